"""The official `openai` package for Python."""

import os

import openai

QUESTION = "When does the museum open?"
ANSWER = "nine o'clock"
agent, paused = os.environ["AGENT"], os.environ["PAUSED"]
client = openai.OpenAI(base_url=os.environ["BASE_URL"], api_key=os.environ["API_KEY"], timeout=20)
messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": QUESTION}]

# Models.
assert agent in [model.id for model in client.models.list()]
assert client.models.retrieve(agent).owned_by == "cicerone"

# Chat completions.
completion = client.chat.completions.create(model=agent, messages=messages, temperature=0.2)
message = completion.choices[0].message
assert ANSWER in message.content, message
assert completion.usage.total_tokens == 0
[cited] = message.annotations
assert cited.type == "url_citation" and cited.url_citation.url.startswith("https://"), cited
assert completion.sources_used[0]["title"] == cited.url_citation.title

text, annotations, usage = "", [], None
stream = client.chat.completions.create(
    model=agent, messages=messages, stream=True, stream_options={"include_usage": True}
)
for chunk in stream:
    usage = chunk.usage or usage
    for choice in chunk.choices:
        text += choice.delta.content or ""
        annotations += getattr(choice.delta, "annotations", None) or []
assert text == message.content
assert annotations[0]["url_citation"]["url"] == cited.url_citation.url, annotations
assert usage.total_tokens == 0

with client.chat.completions.stream(model=agent, messages=messages) as stream:
    for _ in stream:
        pass
    final = stream.get_final_completion()
assert final.choices[0].message.content == message.content

# Responses.
response = client.responses.create(model=agent, input=QUESTION, instructions="Be brief.")
assert response.output_text == message.content
assert response.status == "completed" and response.store is False
[annotation] = response.output[0].content[0].annotations
assert annotation.type == "url_citation" and annotation.url == cited.url_citation.url

events = list(client.responses.create(model=agent, input=messages, stream=True))
assert [event.sequence_number for event in events] == list(range(len(events)))
assert events[0].type == "response.created" and events[-1].type == "response.completed"
assert events[-1].response.output_text == message.content
assert events[0].response.id == events[-1].response.id

with client.responses.stream(model=agent, input=QUESTION) as stream:
    for _ in stream:
        pass
    final = stream.get_final_response()
assert final.output_text == message.content
assert final.output[0].content[0].annotations[0].url == cited.url_citation.url

# Stored responses go on.
first = client.responses.create(model=agent, input=QUESTION, store=True, metadata={"user": "17"})
second = client.responses.create(model=agent, input="And on Mondays?", previous_response_id=first.id)
assert second.previous_response_id == first.id
assert second.conversation.id == first.conversation.id
assert "closed" in second.output_text, second.output_text
third = client.responses.create(model=agent, input="Thank you", conversation=first.conversation.id)
assert third.conversation.id == first.conversation.id


# Refusals are raised as their classes, and the lasting ones are not repeated.
def refusal(kind, call):
    try:
        call()
    except openai.APIStatusError as error:
        assert type(error) is kind, error
        assert error.code and error.type and error.request_id.startswith("req_"), error
        return error
    raise AssertionError(f"{kind.__name__} was expected")


def ask(model=agent, **fields):
    return client.chat.completions.create(model=model, messages=messages, **fields)


assert refusal(openai.NotFoundError, lambda: ask("gpt-4o")).code == "resource_not_found"
assert refusal(openai.BadRequestError, lambda: ask(n=2)).param == "n"
assert refusal(openai.BadRequestError, lambda: ask(tool_choice="required")).param == "tool_choice"
image = {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}
error = refusal(
    openai.BadRequestError,
    lambda: client.chat.completions.create(model=agent, messages=[{"role": "user", "content": [image]}]),
)
assert error.param == "messages[0].content[0].type", error.param
refusal(openai.ConflictError, lambda: ask(paused))
stranger = client.with_options(api_key="ck_unknown")
refusal(openai.AuthenticationError, lambda: stranger.models.list())
refusal(openai.ConflictError, lambda: client.responses.create(model=paused, input=QUESTION, stream=True))
