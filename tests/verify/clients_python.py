"""The official clients for Python against servers that answer as clients.ts says: clients_python.py OPENAI_URL ANTHROPIC_URL."""

import io
import json
import platform
import sys
import time

import anthropic
import openai
from pydantic import BaseModel

OPENAI_URL, ANTHROPIC_URL = sys.argv[1:3]
MODEL = "emulated"
HI = [{"role": "user", "content": "Hi"}]
ADD = [{"role": "user", "content": "Add 2 and 3."}]
BUSY = [{"role": "user", "content": "Be busy"}]
PARAMETERS = {
    "type": "object",
    "properties": {"a": {"type": "number"}, "b": {"type": "number"}},
    "required": ["a", "b"],
    "additionalProperties": False,
}

held = 0
failed = 0


class Sum(BaseModel):
    sum: int


def equal(claim, actual, expected):
    """Claims that two values are equal."""
    global held, failed
    if actual == expected:
        held += 1
    else:
        failed += 1
        print(f"FAILED: {claim}\n  got      {actual!r}\n  expected {expected!r}")


def refused(claim, act, kind):
    """Claims that something raises an error of this kind."""
    try:
        act()
        equal(claim, "nothing was raised", kind)
    except kind:
        equal(claim, kind, kind)


def over(look, is_over):
    """Waits until a batch is over."""
    while True:
        batch = look()
        if is_over(batch):
            return batch
        time.sleep(0.01)


def ids_of(pages):
    return [one.id for one in pages]


oai = openai.OpenAI(api_key="right", base_url=f"{OPENAI_URL}/v1", max_retries=0)
ant = anthropic.Anthropic(api_key="right", base_url=ANTHROPIC_URL, max_retries=0)


def chats():
    chat = oai.chat.completions.create(model=MODEL, messages=HI, n=2)
    equal("chat: texts", [c.message.content for c in chat.choices], ["Two words. 0", "Two words. 1"])
    equal("chat: usage", (chat.usage.prompt_tokens, chat.usage.total_tokens), (4, 14))
    pieces = list(
        oai.chat.completions.create(model=MODEL, messages=HI, stream=True, stream_options={"include_usage": True})
    )
    text = "".join(p.choices[0].delta.content or "" for p in pieces if p.choices)
    equal("chat, streamed: text", text, "Two words. 0")
    equal("chat, streamed: usage", pieces[-1].usage.completion_tokens, 5)
    formed = oai.chat.completions.parse(model=MODEL, messages=HI, response_format=Sum)
    equal("chat: schema", formed.choices[0].message.parsed, Sum(sum=5))
    refused("chat: too many requests", lambda: oai.chat.completions.create(model=MODEL, messages=BUSY), openai.RateLimitError)
    stranger = openai.OpenAI(api_key="wrong", base_url=f"{OPENAI_URL}/v1", max_retries=0)
    refused("chat: wrong key", lambda: stranger.chat.completions.create(model=MODEL, messages=HI), openai.AuthenticationError)
    equal("models", ids_of(oai.models.list()), [MODEL])


def chat_tools():
    tools = [{"type": "function", "function": {"name": "add", "parameters": PARAMETERS, "strict": True}}]
    with oai.chat.completions.stream(model=MODEL, messages=ADD, tools=tools) as stream:
        streamed = stream.get_final_completion().choices[0]
    equal("chat, streamed: tool", streamed.message.tool_calls[0].function.parsed_arguments, {"a": 2, "b": 3})
    equal("chat, streamed: end", streamed.finish_reason, "tool_calls")
    message = oai.chat.completions.create(model=MODEL, messages=ADD, tools=tools).choices[0].message
    (call,) = message.tool_calls
    equal("chat: input of a tool", json.loads(call.function.arguments), {"a": 2, "b": 3})
    result = {"role": "tool", "tool_call_id": call.id, "content": "5"}
    said = oai.chat.completions.create(model=MODEL, messages=[*ADD, message, result], tools=tools)
    equal("chat: result of a tool", said.choices[0].message.content, "The sum is 5.")


def responses():
    response = oai.responses.create(model=MODEL, input="Hi")
    equal("responses: text", response.output_text, "Two words. 0")
    equal("responses: usage", response.usage.total_tokens, 9)
    with oai.responses.stream(model=MODEL, input="Hi") as stream:
        text = "".join(event.delta for event in stream if event.type == "response.output_text.delta")
        equal("responses, streamed: usage", stream.get_final_response().usage.output_tokens, 5)
    equal("responses, streamed: text", text, "Two words. 0")
    formed = oai.responses.parse(model=MODEL, input="Hi", text_format=Sum)
    equal("responses: schema", formed.output_parsed, Sum(sum=5))


def response_tools():
    tools = [{"type": "function", "name": "add", "parameters": PARAMETERS, "strict": True}]
    kept = {"model": MODEL, "store": False, "tools": tools, "include": ["reasoning.encrypted_content"]}
    asked = oai.responses.create(input=ADD, **kept)
    equal("responses: items", [item.type for item in asked.output], ["reasoning", "function_call"])
    call = asked.output[1]
    equal("responses: input of a tool", json.loads(call.arguments), {"a": 2, "b": 3})
    result = {"type": "function_call_output", "call_id": call.call_id, "output": "5"}
    said = oai.responses.create(input=[*ADD, *asked.output, result], **kept)
    equal("responses: result of a tool", said.output_text, "The sum is 5.")


def openai_batches():
    lines = []
    for name in ["one_s0", "two_s1", "late", "bad"]:
        body = {"model": MODEL, "messages": HI, **({"n": 0} if name == "bad" else {})}
        lines.append({"custom_id": name, "method": "POST", "url": "/v1/chat/completions", "body": body})
    text = "\n".join(json.dumps(line) for line in lines)
    file = oai.files.create(file=("in.jsonl", io.BytesIO(text.encode())), purpose="batch")
    request = {"input_file_id": file.id, "endpoint": "/v1/chat/completions", "completion_window": "24h"}
    batch = oai.batches.create(**request, metadata={"key": "mine"})
    equal("batch: begins", batch.status, "validating")
    batch = over(lambda: oai.batches.retrieve(batch.id), lambda b: b.status in ("completed", "expired", "failed"))
    equal("batch: status", batch.status, "expired")
    counts = batch.request_counts
    equal("batch: counts", (counts.total, counts.completed, counts.failed), (4, 2, 2))
    output = [json.loads(line) for line in oai.files.content(batch.output_file_id).text.splitlines()]
    answers = {o["custom_id"]: o["response"]["body"]["choices"][0]["message"]["content"] for o in output}
    equal("batch: answers", answers, {"one_s0": "Two words. 0", "two_s1": "Two words. 1"})
    errors = [json.loads(line) for line in oai.files.content(batch.error_file_id).text.splitlines()]
    equal("batch: errors", {e["custom_id"]: (e["error"] or {}).get("code") for e in errors}, {"late": "batch_expired", "bad": None})
    other = oai.batches.create(**request)
    equal("batch: list", ids_of(oai.batches.list(limit=1))[:2], [other.id, batch.id])


def text_in(message):
    return "".join(block.text for block in message.content if block.type == "text")


def messages():
    asked = {"model": MODEL, "max_tokens": 2000}
    message = ant.messages.create(**asked, messages=HI)
    equal("messages: text", text_in(message), "Two words. 0")
    equal("messages: usage", (message.usage.input_tokens, message.usage.output_tokens), (4, 5))
    with ant.messages.stream(**asked, messages=HI) as stream:
        equal("messages, streamed: text", "".join(stream.text_stream), "Two words. 0")
        equal("messages, streamed: usage", stream.get_final_message().usage.output_tokens, 5)
    formed = ant.messages.parse(**asked, messages=HI, output_format=Sum)
    equal("messages: schema", formed.parsed_output, Sum(sum=5))
    equal("messages: tokens counted", ant.messages.count_tokens(model=MODEL, messages=HI).input_tokens, 4)
    equal("messages: models", ids_of(ant.models.list()), [MODEL])
    refused("messages: too many requests", lambda: ant.messages.create(**asked, messages=BUSY), anthropic.RateLimitError)
    stranger = anthropic.Anthropic(api_key="wrong", base_url=ANTHROPIC_URL, max_retries=0)
    refused("messages: wrong key", lambda: stranger.messages.create(**asked, messages=HI), anthropic.AuthenticationError)


def message_tools():
    request = {
        "model": MODEL,
        "max_tokens": 2000,
        "tools": [{"name": "add", "input_schema": PARAMETERS}],
        "thinking": {"type": "adaptive"},
    }
    with ant.messages.stream(**request, messages=ADD) as stream:
        streamed = stream.get_final_message()
    equal("messages, streamed: blocks", [b.type for b in streamed.content], ["thinking", "tool_use"])
    equal("messages, streamed: input of a tool", streamed.content[1].input, {"a": 2, "b": 3})
    called = ant.messages.create(**request, messages=ADD)
    equal("messages: end", called.stop_reason, "tool_use")
    result = {"type": "tool_result", "tool_use_id": called.content[1].id, "content": "5"}
    said = ant.messages.create(
        **request,
        messages=[*ADD, {"role": "assistant", "content": called.content}, {"role": "user", "content": [result]}],
    )
    equal("messages: result of a tool", text_in(said), "The sum is 5.")


def anthropic_batches():
    batches = ant.messages.batches
    requests = []
    for name in ["one_s0", "two_s1", "late", "bad"]:
        model = "unheard-of" if name == "bad" else MODEL
        requests.append({"custom_id": name, "params": {"model": model, "max_tokens": 50, "messages": HI}})
    batch = batches.create(requests=requests)
    equal("batch: begins", batch.processing_status, "in_progress")
    batch = over(lambda: batches.retrieve(batch.id), lambda b: b.processing_status == "ended")
    counts = batch.request_counts
    equal("batch: counts", (counts.succeeded, counts.errored, counts.expired, counts.canceled), (2, 1, 1, 0))
    results = {line.custom_id: line.result for line in batches.results(batch.id)}
    answers = {name: text_in(r.message) if r.type == "succeeded" else r.type for name, r in results.items()}
    expected = {"one_s0": "Two words. 0", "two_s1": "Two words. 1", "late": "expired", "bad": "errored"}
    equal("batch: results", answers, expected)
    equal("batch: error", results["bad"].error.error.type, "not_found_error")
    equal("batch: tier", results["one_s0"].message.usage.service_tier, "batch")
    other = batches.create(requests=requests)
    equal("batch: list", ids_of(batches.list(limit=1))[:2], [other.id, batch.id])


for program in [chats, chat_tools, responses, response_tools, openai_batches]:
    program()
for program in [messages, message_tools, anthropic_batches]:
    program()
print(f"openai {openai.__version__}, anthropic {anthropic.__version__}")
print(f"clients, Python {platform.python_version()}: {held} of {held + failed} claims held")
sys.exit(1 if failed else 0)
