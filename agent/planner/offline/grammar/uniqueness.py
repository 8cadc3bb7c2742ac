"""Put in `sort` and `uniq` for lines that are to come once, or with how often they come."""

from __future__ import annotations

from msgspec import structs

from agent.planner.offline.grammar.intent import Order, Stage


def unique_and_frequency(stages: list[Stage], frequency: str) -> tuple[Stage, ...]:
    """`sort | uniq` in one of its forms where unique lines or how often each comes were asked for."""
    order = next((stage.order for stage in stages if stage.op == "sort" and stage.order is not None), None)
    kinds = [stage.op for stage in stages]
    if frequency:
        before = [s for s in stages if s.op not in ("unique", "dups", "once", "sort", "head", "tail", "count")]
        after = [s for s in stages if s.op in ("head", "tail")]
        by_count = order is None or (
            order.key in ("count", "whole", "num") and (order.numeric or order.reverse or order.key == "count")
        )
        counted = [Stage(op="sort", order=Order(key="whole")), Stage(op="uniq_c")]
        if frequency == "common" or after or (order is not None and by_count):
            rare = order is not None and order.then == "rare"
            reverse = not rare and (frequency == "common" or order is None or order.reverse or order.key == "count")
            counted.append(Stage(op="sort", order=Order(key="whole", numeric=True, reverse=reverse)))
        return (*before, *counted, *after)
    for name, op in (("unique", "uniq"), ("dups", "uniq_d"), ("once", "uniq_u")):
        if name not in kinds:
            continue
        at = kinds.index(name)
        out: list[Stage] = []
        for index, stage in enumerate(stages):
            if stage.op == name and index == at:
                if order is not None and op == "uniq":
                    continue
                out += [Stage(op="sort", order=Order(key="whole", then="unique" if op == "uniq" else ""))]
                if op != "uniq":
                    out.append(Stage(op=op))
            elif stage.op == name or (name == "dups" and stage.op == "unique"):
                continue
            elif stage.op == "sort" and order is not None and stage.order is order and op == "uniq":
                out.append(structs.replace(stage, order=structs.replace(order, then="unique")))
            elif (
                stage.op == "sort"
                and op != "uniq"
                and order is not None
                and order.key == "whole"
                and not order.reverse
                and not order.numeric
            ):
                continue
            else:
                out.append(stage)
        return tuple(out)
    return tuple(stages)
