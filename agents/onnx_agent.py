"""`onnx:FILE`: an agent of values in onnxruntime, without torch; and how such files are made.

`python agents/onnx_agent.py dmc:runs/x/last.pt x.onnx` writes a file. Its graph scores the listed
actions of one state:

- `net` int64[1]: which network, in the order of `net_names`;
- `state` float32[1, STATE_SIZE], `actions` float32[A, ACTION_SIZE]: the schemas' bits;
- `facts` float32[A, FACTS];
- `values` float32[A, 3]: logit of the chance of winning, logarithms of the points won and lost.

Rooms, schema and objective stand in the file's metadata. Needs the extra `onnx`.
"""

import json
import sys
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from agents.base import AgentError
from agents.inputs import FACTS, FACTS_HASH, Inputs
from agents.value_agent import OBJECTIVES, ValueAgent
from ddz_env.errors import DdzError
from ddz_env.features import ACTION_SIZE, SCHEMA_NAME, STATE_SIZE, schema_hash
from ddz_env.listed import Bits
from ddz_env.rules import RuleSet

FORMAT = "ddz-onnx-1"
OPSET = 17


def _library(name: str) -> Any:
    """A library of the extra.

    Raises:
        AgentError: it is not installed.
    """
    try:
        return import_module(name)
    except ImportError:
        raise AgentError(
            f"agent onnx: needs the package {name}: pip install -e '.[onnx]'"
        ) from None


def _matrix(lists: Bits, size: int) -> np.ndarray:
    """Lists of ones as a matrix, `float32[n, size]`."""
    n = len(lists.offsets) - 1
    out = np.zeros((n, size), np.float32)
    rows = np.repeat(np.arange(n), np.diff(lists.offsets))
    np.add.at(out, (rows, lists.bits[: lists.offsets[-1]]), 1.0)
    return out


class _OnnxNet:
    """One network of a file, as `ValueAgent` wants it."""

    def __init__(self, session: Any, net: int) -> None:
        self._session, self._net = session, np.array([net], np.int64)

    def score_lists(self, inputs: Inputs) -> np.ndarray:
        """Outputs of all listed actions, `float32[A, 3]`, one state after the other."""
        states = _matrix(inputs.state, STATE_SIZE)
        actions = _matrix(inputs.actions, ACTION_SIZE)
        out = []
        for i in range(len(states)):
            part = slice(int(inputs.legal.offsets[i]), int(inputs.legal.offsets[i + 1]))
            feed = {
                "net": self._net,
                "state": states[i : i + 1],
                "actions": actions[part],
                "facts": inputs.facts[part],
            }
            out.append(self._session.run(["values"], feed)[0])
        return np.concatenate(out)


def from_spec(argument: str | None) -> ValueAgent:
    """The agent of `onnx:FILE` or `onnx:FILE,objective=adp`.

    Raises:
        AgentError: no such file, not one of this project, or of another schema (both named).
    """
    path, _, option = (argument or "").partition(",")
    key, _, objective = option.partition("=")
    if not path or (option and (key != "objective" or objective not in OBJECTIVES)):
        raise AgentError(f"agent onnx: expected onnx:FILE,objective=wp|adp, got {argument!r}")
    if not Path(path).is_file():
        raise AgentError(f"agent onnx: {path}: no such file; agents/onnx_agent.py writes one")
    ort = _library("onnxruntime")
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    try:
        session = ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        known = session.get_modelmeta().custom_metadata_map
        found = tuple(known[k] for k in ("format", "schema", "schema_hash", "facts_hash"))
    except Exception as error:
        raise AgentError(f"agent onnx: {path}: not a file of this project") from error
    want = FORMAT, SCHEMA_NAME, schema_hash(), FACTS_HASH
    if found != want:
        raise AgentError(f"agent onnx: {path}: made for {found}, this version reads {want}")
    rooms = tuple(RuleSet(**room) for room in json.loads(known["rooms"]))
    nets = [_OnnxNet(session, k) for k in range(int(known["nets"]))]
    return ValueAgent(nets, rooms, objective or known["objective"])


def _stacked(values: list[np.ndarray]) -> np.ndarray:
    """The same parameter of several networks; zeros make smaller ones as large as the largest."""
    shape = np.max([value.shape for value in values], axis=0)
    out = np.zeros((len(values), *shape), np.float32)
    for row, value in zip(out, values, strict=True):
        row[tuple(slice(0, n) for n in value.shape)] = value  # units of zeros add nothing
    return out


def _layers(joint: bool) -> list[tuple[str, list[str], str]]:
    """Operation, inputs and output of each step of a graph; the layers of `dmc_net.RoleNet`."""
    second = [
        ("Relu", ["mixed" if joint else "s1"], "s2"),
        ("MatMul", ["s2", "state_out_weight"], "s3"),
        ("Add", ["s3", "state_out_bias"], "s4"),
    ]
    action = [
        ("MatMul", ["actions", "action_in"], "a0"),
        ("MatMul", ["facts", "facts_in"], "a1"),
        ("Add", ["a0", "a1"], "a2"),
        ("Add", ["a2", "s1" if joint else "s4"], "mixed"),
    ]
    return [
        ("MatMul", ["state", "state_in"], "s0"),
        ("Add", ["s0", "state_bias"], "s1"),
        *([*action, *second] if joint else [*second, *action]),
        ("Relu", ["s4" if joint else "mixed"], "m1"),
        ("MatMul", ["m1", "head_weight"], "h0"),
        ("Add", ["h0", "head_bias"], "h1"),
        ("Relu", ["h1"], "h2"),
        ("MatMul", ["h2", "out_weight"], "o0"),
        ("Add", ["o0", "out_bias"], "values"),
    ]


def export(agent: ValueAgent, path: Path) -> None:
    """Write an agent whose networks are `dmc_net.RoleNet` as an ONNX file.

    Raises:
        AgentError: networks of the kinds that are for comparisons only.
    """
    net: Any = agent.nets[0]
    if not net.history:
        raise AgentError("ONNX: expected networks that read the history")
    onnx = _library("onnx")
    h, numpy_helper = onnx.helper, onnx.numpy_helper
    stacks: dict[str, np.ndarray] = {}
    for name in agent.nets[0].state_dict():  # type: ignore[attr-defined]
        values = [net.state_dict()[name].numpy() for net in agent.nets]  # type: ignore[attr-defined]
        if values[0].ndim == 2 and name.endswith(".weight"):
            values = [v.T for v in values]
        stacks[name.replace(".", "_")] = _stacked(values)
    nodes = []
    for name in stacks:  # the network's own weights: the first axis picked, then dropped
        nodes.append(h.make_node("Gather", [f"all_{name}", "net"], [f"one_{name}"], axis=0))
        nodes.append(h.make_node("Squeeze", [f"one_{name}", "first"], [name]))
    for op, inputs, output in _layers(net.joint):
        nodes.append(h.make_node(op, inputs, [output]))
    number, whole = onnx.TensorProto.FLOAT, onnx.TensorProto.INT64
    graph = h.make_graph(
        nodes,
        "ddz",
        [
            h.make_tensor_value_info("net", whole, [1]),
            h.make_tensor_value_info("state", number, [1, STATE_SIZE]),
            h.make_tensor_value_info("actions", number, ["A", ACTION_SIZE]),
            h.make_tensor_value_info("facts", number, ["A", FACTS]),
        ],
        [h.make_tensor_value_info("values", number, ["A", 3])],
        [numpy_helper.from_array(v, f"all_{k}") for k, v in stacks.items()]
        + [numpy_helper.from_array(np.array([0], np.int64), "first")],
    )
    model = h.make_model(graph, opset_imports=[h.make_opsetid("", OPSET)], ir_version=8)
    h.set_model_props(model, _metadata(agent))
    onnx.checker.check_model(model)
    temporary = path.with_name(f".{path.name}.part")
    temporary.write_bytes(model.SerializeToString())
    temporary.replace(path)


def _metadata(agent: ValueAgent) -> dict[str, str]:
    """What a file says of itself."""
    return {
        "format": FORMAT,
        "schema": SCHEMA_NAME,
        "schema_hash": schema_hash(),
        "facts_hash": FACTS_HASH,
        "rooms": json.dumps([asdict(room) for room in agent.rooms]),
        "objective": agent.objective,
        "nets": str(len(agent.nets)),
    }


def main(arguments: list[str] | None = None) -> int:
    """`onnx_agent.py dmc:PATH FILE`: 0 when all went well, 2 for what can't be used."""
    from agents.dmc import from_spec as dmc

    words = sys.argv[1:] if arguments is None else arguments
    try:
        if len(words) != 2 or not words[0].startswith("dmc:"):
            raise AgentError(f"expected dmc:PATH FILE.onnx, got {' '.join(words)!r}")
        export(dmc(words[0].partition(":")[2]), Path(words[1]))
    except (DdzError, OSError) as error:
        print(f"onnx_agent: {error}", file=sys.stderr)
        return 2
    print(f"wrote {words[1]}\nnext: python eval/tournament.py onnx:{words[1]} greedy")
    return 0


if __name__ == "__main__":
    sys.exit(main())
