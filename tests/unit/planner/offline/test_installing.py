"""How a missing program is had: by the package that holds it, with the rights that are there."""

from __future__ import annotations

from msgspec import Struct

from agent.planner.offline.installing import install_advice


class Here(Struct, frozen=True, kw_only=True):
    programs: frozenset[str]
    is_root: bool = False

    def present(self, name: str) -> bool:
        return name in self.programs


def test_sudo_is_named_only_where_it_is() -> None:
    assert install_advice("nmcli", Here(programs=frozenset({"apt-get"}))) == (
        "If you want it: `apt-get install network-manager` as root."
    )
    assert install_advice("pdftoppm", Here(programs=frozenset({"apt-get", "sudo"}))) == (
        "If you want it: `sudo apt-get install poppler-utils`."
    )
    assert install_advice("jq", Here(programs=frozenset({"apt-get"}), is_root=True)) == (
        "If you want it: `apt-get install jq`."
    )
    assert install_advice("jq", Here(programs=frozenset({"brew"}))) == "If you want it: `brew install jq`."
