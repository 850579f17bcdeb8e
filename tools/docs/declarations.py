"""Declarations as a reader wants them, from Doxygen's output for a name."""

import re
import textwrap
import xml.etree.ElementTree as xml

from reference import entity

WIDTH = 88  # of a declaration, in columns


def tidy(text: str) -> str:
    """Doxygen's spaces taken out: `ref< P > &x` becomes `ref<P>& x`, and `a > 0` stays."""
    out, depth, opened = "", 0, []
    text = re.sub(r"\s+", " ", text).strip()
    for at, mark in enumerate(text):
        depth += (mark in "([{") - (mark in ")]}")
        if mark == "<" and re.search(r"\w$", out) and text[at + 1 : at + 2] == " ":
            opened.append(depth)
        elif mark == ">" and opened and opened[-1] == depth and text[at - 1] in " >":
            opened.pop()
            out = out.rstrip()
        elif mark == " " and out.endswith("<") and opened and text[at - 2 : at - 1] != " ":
            continue
        out += mark
    out = re.sub(r"\s+([&*]+)(?=\w)", r"\1 ", out)
    out = re.sub(r"\s+([&*]+)(?=[,)>.]|$)", r"\1", out)
    return re.sub(r"\s*(?<![=<>!])=\s*(default|delete|0)$", r" = \1", out)


def text_of(node: xml.Element | None) -> str:
    return tidy("".join(node.itertext())) if node is not None else ""


def template_of(found: entity) -> str:
    parameters = found.node.find("templateparamlist")
    if parameters is None:
        return ""
    each = []
    for p in parameters:
        name, value = text_of(p.find("declname")), text_of(p.find("defval"))
        kind = text_of(p.find("type"))
        each.append(f"{kind} {name}".strip() + (f" = {value}" if value else ""))
    return f"template <{', '.join(each)}>\n"


def signature(found: entity) -> str:
    node = found.node
    type = text_of(node.find("type"))
    if found.kind in ("function", "friend"):
        arguments = tidy(re.sub(r"(?<=\w)=(?!=)", " = ", node.findtext("argsstring") or ""))
        before = "friend " if found.kind == "friend" else ""
        before += "static " if node.get("static") == "yes" and found.name.count("::") > 2 else ""
        before += "explicit " if node.get("explicit") == "yes" else ""
        before += "virtual " if node.get("virt") not in (None, "non-virtual") else ""
        requires = text_of(node.find("requiresclause"))
        line = " ".join(f"{before}{type} {found.short}{arguments};".split())
        line = line.removeprefix("virtual ") if "override" in arguments else line
        return template_of(found) + (f"  requires {requires}\n" if requires else "") + wrapped(line)
    if found.kind == "typedef":
        return f"{template_of(found)}using {found.short} = {type};"
    if found.kind == "enum":
        return f"enum class {found.short}{f' : {type}' if type else ''};"
    if found.kind == "concept":
        return f"{template_of(found)}concept {found.short};"
    if found.kind == "variable":
        value = text_of(node.find("initializer"))
        gap = " " if value.startswith("=") else ""
        return f"{template_of(found)}{type} {found.short}{gap}{value};"
    bases = [
        f"{base.get('prot')} {tidy(re.sub(r'garrick::[a-z]+::', '', base.text or ''))}"
        for base in node.findall("basecompoundref")
        if base.get("prot") != "private" and "detail::" not in (base.text or "")
    ]
    derived = f" : {', '.join(bases)}" if bases else ""
    return f"{template_of(found)}{found.kind} {found.short}{derived};"


def comment(text: str) -> str:
    return "".join(f"// {line}\n" for line in textwrap.wrap(text, WIDTH))


def wrapped(line: str) -> str:
    """A long declaration with one parameter a line."""
    if len(line) <= WIDTH or "(" not in line:
        return line
    start = line.index("(") + 1
    depth, at, parts = 0, start, []
    for i in range(start, len(line)):
        depth += (line[i] in "(<{[") - (line[i] in ")>}]" and line[i - 1] != "-")
        if depth < 0:
            parts.append(line[at:i])
            return line[:start] + "\n    " + ",\n    ".join(p.strip() for p in parts) + line[i:]
        if line[i] == "," and depth == 0:
            parts.append(line[at:i])
            at = i + 1
    return line


def declaration(found: entity) -> str:
    return f"```cpp\n{signature(found)}\n```"
