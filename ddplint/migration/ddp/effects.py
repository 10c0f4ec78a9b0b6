"""What calls do outside their process: nothing, something that one process has to do for all, or what is not known."""

from __future__ import annotations

import re
from enum import Enum

from ddplint.project import Project
from ddplint.semantics import Attribute, Call, Constant
from ddplint.semantics.arguments import Missing
from ddplint.semantics.names import LOCAL, MODULE, UNKNOWN_NAME


class Effect(Enum):
    """What a call does."""

    NONE = "nothing that other processes notice"
    WRITES = "writes a file"
    MAKES_FOLDER = "makes a folder"
    BAR = "draws a progress bar"
    DOWNLOADS = "downloads what is not there yet"
    UNKNOWN = "not known"


# Packages whose calls only compute, read and print, but for what is listed below.
_QUIET = frozenset(
    {"PIL", "abc", "argparse", "bisect", "builtins", "collections", "configparser", "contextlib", "copy", "csv", "cv2"}
    | {"dataclasses", "datetime", "einops", "enum", "functools", "glob", "gzip", "h5py", "heapq", "inspect", "io"}
    | {"itertools", "json", "math", "numbers", "numpy", "operator", "os", "pandas", "pathlib", "pickle", "platform"}
    | {"pprint", "random", "re", "scipy", "six", "skimage", "sklearn", "statistics", "string", "struct", "sys"}
    | {"textwrap", "time", "timm", "torch", "torchaudio", "torchvision", "types", "typing", "unicodedata", "warnings"}
    | {"yaml", "zipfile", "__future__"}
)
_OF_OS = re.compile(
    r"os\.(?:path\.\w+|listdir|getcwd|environ(?:\.(?:get|copy|items|keys))?|getenv|walk|scandir|cpu_count|fspath|popen"
    r"|sep|getpid)$"
)
_OF_SYS = re.compile(r"sys\.(?:stdout|stderr)\.(?:write|flush|isatty|fileno)$|sys\.(?:path\.\w+|exit|getsizeof)$")
_LOUD = re.compile(
    r"torch\.(?:distributed|multiprocessing|jit|compile|onnx|hub|utils\.tensorboard|profiler|utils\.cpp_extension|export"
    r"|quantization|package)\b|builtins\.(?:exec|eval|input|compile|breakpoint|__import__)$|\w+\.dumps?$|cv2\.imwrite"
    r"|cv2\.(?:imshow|waitKey|VideoWriter)|numpy\.(?:save\w*|memmap)|torch\.save$|json\.dump$|scipy\.io\.savemat"
    r"|torchvision\.utils\.save_image|torchaudio\.save|imageio\.|skimage\.io\.imsave|PIL\.Image\.Image\.save"
)
_TEXTS = frozenset({"json.dumps", "pickle.dumps", "yaml.dump"})
_FOLDERS = frozenset({"os.mkdir", "os.makedirs"})
_BARS = re.compile(r"tqdm(?:\.\w+)*$")
# Methods, of objects that are not known, that do something outside the process, as far as their names say.
_LOUD_METHODS = re.compile(
    r"write|writelines|writerows?|mkdir|makedirs|unlink|touch|rename|rmdir|rmtree|save\w*|savefig|dump|to_csv|to_json"
    r"|to_pickle|add_(?:scalars?|images?|histogram|figure|graph|text|embedding|hparams|video|audio|pr_curve)|log"
    r"|log_\w+|info|warning|warn|error|debug|critical|watch|start|submit|apply_async|imwrite|write_text|write_bytes"
    r"|download\w*|export\w*|set_start_method|spawn|system|check_call|kill|tensorboard|c?print"
)


def effect_of(project: Project, call: Call) -> Effect:
    """Return what a call itself does, without what the project's functions do that it runs."""
    names = project.names(call.callee)
    writes = {id(write.call) for write in project.writes.of(call.scope.script)}
    if id(call) in writes:
        return Effect.WRITES
    if names <= _FOLDERS:
        return Effect.MAKES_FOLDER
    if all(map(_BARS.fullmatch, names)):
        return Effect.BAR
    if _downloads(project, call):
        return Effect.DOWNLOADS
    effects = {_of_name(name, call) for name in names}
    return effects.pop() if len(effects) == 1 else Effect.UNKNOWN


def is_of_library(names: frozenset[str]) -> bool:
    """Whether names certainly stand for something that is neither of the project nor unknown."""
    return not any(name == UNKNOWN_NAME or name.startswith("<") for name in names)


def _of_name(name: str, call: Call) -> Effect:
    if name.startswith((LOCAL, MODULE)):
        return Effect.NONE
    if name == UNKNOWN_NAME or name.startswith("<"):
        return _of_method(call)
    root = name.partition(".")[0]
    known = root in _QUIET and (name in _TEXTS or not _LOUD.match(name))
    if root == "os":
        known = bool(_OF_OS.match(name))
    if root == "sys":
        known = bool(_OF_SYS.match(name))
    return Effect.NONE if known else Effect.UNKNOWN


def _of_method(call: Call) -> Effect:
    if not isinstance(call.callee, Attribute):
        return Effect.NONE  # an object that is called: a model, a loss, a function that was handed over
    name = call.callee.name
    if name == "mkdir":
        return Effect.MAKES_FOLDER
    return Effect.UNKNOWN if _LOUD_METHODS.fullmatch(name) else Effect.NONE


def _downloads(project: Project, call: Call) -> bool:
    given = project.argument(call, "download")
    if isinstance(given, Missing):
        given = next((one.value for one in call.arguments if one.keyword == "download"), given)
    return not isinstance(given, Missing) and not (isinstance(given, Constant) and given.value is False)
