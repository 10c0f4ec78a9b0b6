"""Where processes meet: the port and the address."""

from __future__ import annotations

from ddplint.doctor.asked import Asked
from ddplint.doctor.facts import Facts
from ddplint.doctor.result import Verdict, fail, ok, unknown, warn

# What torch takes when nobody says.
DEFAULT_PORT = 29500
_LOOPBACK = ("127.", "::1", "localhost")


def wanted_ports(variable: str | None, written: frozenset[int]) -> list[int]:
    """Return the ports at which processes would meet: of MASTER_PORT, else torch's own, and those of the script."""
    given = int(variable) if variable and variable.isdigit() else DEFAULT_PORT
    return sorted({given, *written})


def port(facts: Facts, asked: Asked) -> Verdict | None:
    """ENV908: whether the ports are ports, and free."""
    given = facts.variable("MASTER_PORT")
    if given is not None and not (given.isdigit() and 1 <= int(given) <= 65535):
        return fail(f"MASTER_PORT={given}", "a number from 1 to 65535", "unset MASTER_PORT: torchrun finds one")
    wrong = sorted(number for number in asked.needs.ports if not 1 <= number <= 65535)
    if wrong:
        return fail(f"port {wrong[0]} in {asked.needs.script}", "a number from 1 to 65535", "see DDP401")
    free = facts.get("ports")
    if free is None:
        return unknown("no port was tried")
    taken = [number for number in wanted_ports(given, asked.needs.ports) if free.get(str(number)) is False]
    if not taken:
        return ok(f"port {', '.join(map(str, sorted(map(int, free))))} free")
    read = f"port {', '.join(map(str, taken))} taken"
    if given is not None and int(given) in taken:
        return fail(read, "a free MASTER_PORT", "unset MASTER_PORT, or choose another")
    if asked.needs.ports.intersection(taken):
        return fail(f"{read}, and written into {asked.needs.script}", "a free port", "see DDP401")
    return warn(read, "torch's default port free", "torchrun --standalone finds a free port on one machine")


def address(facts: Facts, asked: Asked) -> Verdict | None:
    """ENV917: whether other machines can reach the address at which they meet."""
    given = facts.variable("MASTER_ADDR")
    if given is None:
        if asked.machines < 2:
            return None
        should = "the address of the first machine"
        return warn("MASTER_ADDR is not set", should, "torchrun --rdzv-backend=c10d --rdzv-endpoint=HOST:PORT")
    found = facts.text("network.master_address")
    if found is None:
        return fail(
            f"MASTER_ADDR={given} has no address", "a name that resolves", "check the name, or give the address"
        )
    if asked.machines > 1 and found.startswith(_LOOPBACK):
        remedy = "give an address that the other machines reach; /etc/hosts often maps the own name to 127.0.1.1"
        return fail(f"MASTER_ADDR={given} is {found}", "an address in the network of all machines", remedy)
    return ok(f"MASTER_ADDR={given} is {found}")
