from graph.main import graph

EDGES = """
__start__ resolve_media | resolve_media recall | recall classify | classify resolve_targets | resolve_targets route
route light | route heavy | light dispatch | heavy dispatch | dispatch chat | dispatch vision | dispatch reply
chat collect | vision collect | collect dispatch | reply remember | remember __end__
"""


def test_the_drawn_graph_is_the_picture_of_the_architecture():
    drawn = {(edge.source, edge.target) for edge in graph.get_graph().edges}
    assert drawn == {tuple(edge.split()) for line in EDGES.strip().splitlines() for edge in line.split("|")}
