# Runs code.py beside it: with `inputs` and `out`, and notes what it wrote, its `result` and its open figures.
import json, linecache, os, sys, traceback

place = os.path.dirname(os.path.abspath(__file__))
out = os.path.join(place, "out")
wrote = []


def note(event, args):
    if event == "open" and isinstance(args[0], (str, bytes, os.PathLike)):
        mode, flags = args[1], args[2]
        writes = any(letter in mode for letter in "wax+") if isinstance(mode, str) else bool(flags & (os.O_WRONLY | os.O_RDWR))
        if writes and len(wrote) < 1000:
            wrote.append(os.path.realpath(os.fsdecode(args[0])))


def keep_figures():
    plots = sys.modules.get("matplotlib.pyplot")
    images = (".png", ".svg", ".pdf", ".jpg", ".jpeg", ".webp")
    if plots is None or any(path.lower().endswith(images) for path in wrote):
        return
    for number in plots.get_fignums():
        plots.figure(number).savefig(os.path.join(out, f"plot-{number}.png"))


def told(value):
    try:
        return json.loads(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError):
        return str(value)


with open(os.path.join(place, "inputs.json"), encoding="utf-8") as file:
    inputs = json.load(file)
with open(os.path.join(place, "code.py"), encoding="utf-8") as file:
    source = file.read()
linecache.cache["code"] = (len(source), None, source.splitlines(True), "code")
space = {"__name__": "__main__", "__builtins__": __builtins__, "inputs": inputs, "out": out}
code, end = 0, None
if sys.warnoptions == []:
    import warnings
    warnings.filterwarnings("ignore", message=".*is non-interactive, and thus cannot be shown")
sys.addaudithook(note)
try:
    exec(compile(source, "code", "exec"), space)
    keep_figures()
except SystemExit as error:
    end = error
except BaseException as error:
    traceback.print_exception(type(error), error, error.__traceback__ and error.__traceback__.tb_next)
    code = 1
made = {"wrote": list(dict.fromkeys(wrote)), "value": told(space.get("result"))}
with open(os.path.join(place, "made.json"), "w", encoding="utf-8") as file:
    json.dump(made, file)
if end is not None:
    raise end
sys.exit(code)
