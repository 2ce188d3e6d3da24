from backend.domain.omnibench.instructions import high_level, low_level, task_of
from backend.domain.omnibench.task_file import GraphTask, read_task
from tests.factories.omnibench import LIST, small_pool, task_json
from tests.unit.domain.omnibench.test_compose import WIDE, some

POOL = small_pool()


def graph_of(nodes: list[str], edges: dict[str, list[str]]) -> GraphTask:
    return read_task(task_json(nodes, edges), "1", POOL)


class TestHighLevel:
    def test_numbers_say_what_comes_after_what(self) -> None:
        graph = graph_of(["write", "pack", "draw"], {"write": ["pack"], "draw": ["pack"]}).graph
        assert high_level(graph, POOL, ("draw", "pack", "write")) == (
            "There are 3 things to do. (1) Do draw. "
            f"(2) After (1) and (3): Pack '{LIST}' into an archive. (3) Write 'milk' into '{LIST}'."
        )

    def test_one_thing_needs_no_number(self) -> None:
        assert high_level(graph_of(["draw"], {}).graph, POOL) == "Do draw."


class TestLowLevel:
    def test_the_steps_or_else_the_instruction(self) -> None:
        (made,) = some(1)
        for node in made.graph.nodes:
            saved = next(iter(WIDE[node.subtask].makes(node.values))).value
            assert f"Open {WIDE[node.subtask].application}. Save as '{saved}'." in low_level(made.graph, WIDE)
        assert low_level(graph_of(["draw"], {}).graph, POOL) == "Do draw."


class TestTold:
    def test_three_orders_that_differ(self) -> None:
        made = next(one for one in some(20) if len(one.graph.nodes) > 3)
        task = task_of(made, "1", WIDE)
        assert len({task.instruction, *task.orders}) == 3
        assert task_of(made, "1", WIDE) == task
        assert (task.intent, task.graph) == (made.intent, made.graph)

    def test_one_node_has_one_order(self) -> None:
        made = next(one for one in some(50) if len(one.graph.nodes) == 1)
        assert task_of(made, "1", WIDE).orders == ()
