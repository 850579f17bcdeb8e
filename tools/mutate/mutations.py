"""The errors that mutate.py plants: memory orders, counts, and the order of steps.

Each has a name, the file, the text there (which occurs once) and its replacement, and the
tests that find it, the quickest first, by their names in CTest. Or `equivalent` argues in a line
that nothing observable changes.
"""

import broker_mutations
import cell_mutations
import dial_mutations
import gpu_mutations
import hostile_mutations
import leader_mutations
import link_mutations
import memory_mutations
import net_mutations
import node_mutations
import other_mutations
import reliable_mutations
import request_mutations
import room_mutations
import sched_mutations
import simulated_mutations
import stream_mutations
import stream_table_mutations
import team_mutations
import transport_mutations
import waiting_mutations
import window_mutations
import wire_mutations

MUTATIONS = (
    other_mutations.MUTATIONS
    + room_mutations.MUTATIONS
    + sched_mutations.MUTATIONS
    + cell_mutations.MUTATIONS
    + memory_mutations.MUTATIONS
    + stream_mutations.MUTATIONS
    + window_mutations.MUTATIONS
    + stream_table_mutations.MUTATIONS
    + team_mutations.MUTATIONS
    + net_mutations.MUTATIONS
    + broker_mutations.MUTATIONS
    + node_mutations.MUTATIONS
    + dial_mutations.MUTATIONS
    + link_mutations.MUTATIONS
    + hostile_mutations.MUTATIONS
    + waiting_mutations.MUTATIONS
    + leader_mutations.MUTATIONS
    + request_mutations.MUTATIONS
    + reliable_mutations.MUTATIONS
    + wire_mutations.MUTATIONS
    + transport_mutations.MUTATIONS
    + simulated_mutations.MUTATIONS
    + gpu_mutations.MUTATIONS
)
