"""Reads messages of a server, one `{"method": …, "message": …}` a line, with the types that lsprotocol makes of the protocol's model."""

import json
import sys

from lsprotocol import converters, types


def plain(value):
    """A value without keys whose value is null, which the model allows to be absent."""
    if isinstance(value, dict):
        return {key: plain(it) for key, it in value.items() if it is not None}
    return [plain(it) for it in value] if isinstance(value, list) else value


def read(converter, value, kind):
    return plain(json.loads(json.dumps(converter.unstructure(converter.structure(value, kind)))))


def fault(converter, method, message):
    request, response, *_ = types.METHOD_TO_TYPES[method]
    is_answer = "id" in message and "method" not in message
    content = message.get("result" if is_answer else "params")
    try:
        if method == "textDocument/codeAction":
            # lsprotocol takes an action that has a command for a command.
            now = [read(converter, it, types.CodeAction) for it in content or []]
            content = content or []
        else:
            whole = read(converter, message, response if is_answer else request)
            now = whole.get("result", whole.get("params"))
    except Exception as error:
        return f"{method}: {error!r}"
    return None if plain(content) == now else f"{method}: {content} is read as {now}"


def main():
    converter = converters.get_converter()
    lines = [json.loads(line) for line in sys.stdin]
    faults = [it for it in (fault(converter, line["method"], line["message"]) for line in lines) if it]
    print("\n".join(faults), end="")
    sys.exit(1 if faults or not lines else 0)


main()
