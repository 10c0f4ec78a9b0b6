"""x"""

from __future__ import annotations

from collections.abc import Iterator

from ddplint.rulekit import Applicability, Call, Confidence, Found, Impact, Project, Purpose, Rule, Script

RULE = Rule(
    code="DDP202",
    name="missing-set-epoch",
    impact=Impact.WRONG,
    since="0.1.0",
    triggers=("Sampler",),
    discharged_by=frozenset(
        {
            "lightning",
            "accelerate",
            "transformers",
            "ignite",
            "mmengine",
            "fastai",
            "ray",
            "speechbrain",
            "fairseq",
            "detectron2",
            "megatron",
        }
    ),
)


def check(script: Script, project: Project) -> Iterator[Found]:
    for call in script.calls:
        samplers = project.samplers
        if not samplers.awaits_epoch(call) or samplers.shuffles(call) is False:
            continue
        trail = project.trail(call)
        if any(trail.reads("set_epoch")):
            continue
        m = project.mentions(script, (b"set_epoch",))
        if not trail.complete and m:
            yield Found(call, "INCOMPLETE+MENTION", Confidence.CERTAIN)
            continue
        purpose = project.passes.purpose(trail)
        repeat = next(project.passes.repeating(trail), None)
        state = f"complete={trail.complete} purpose={purpose.name} repeat={'y' if repeat else 'n'} shuf={samplers.shuffles(call)} mention={m}"
        conf = Confidence.LIKELY
        if purpose.name != "TRAINING" or not repeat or not samplers.shuffles(call):
            conf = Confidence.POSSIBLE
        yield Found(call, state, conf)
