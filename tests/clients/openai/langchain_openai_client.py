"""langchain-openai, by both of the interfaces that it speaks."""

import os

from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langchain_openai import ChatOpenAI

QUESTION = "When does the museum open?"
ANSWER = "nine o'clock"
options = {
    "model": os.environ["AGENT"],
    "base_url": os.environ["BASE_URL"],
    "api_key": os.environ["API_KEY"],
    "temperature": 0.2,
    "max_tokens": 500,
}
history = [SystemMessage("Be brief."), HumanMessage(QUESTION)]


def citations(message):
    blocks = message.content_blocks
    return [note for block in blocks for note in block.get("annotations", [])]


# Chat completions: the text only; langchain-openai drops annotations there.
chat = ChatOpenAI(**options)
reply = chat.invoke(history)
assert ANSWER in reply.content, reply
whole = None
for chunk in chat.stream(history):
    whole = chunk if whole is None else whole + chunk
assert whole.content == reply.content
followed = chat.invoke([*history, AIMessage(reply.content), HumanMessage("And on Mondays?")])
assert "closed" in followed.content, followed

# Responses: with citations.
responses = ChatOpenAI(**options, use_responses_api=True, output_version="responses/v1")
reply = responses.invoke(history)
assert ANSWER in reply.text, reply
[cited] = citations(reply)
assert cited["type"] == "citation" and cited["url"].startswith("https://"), cited
whole = None
for chunk in responses.stream(history):
    whole = chunk if whole is None else whole + chunk
assert whole.text == reply.text, whole
assert citations(whole)[0]["url"] == cited["url"], whole
followed = responses.invoke([*history, reply, HumanMessage("And on Mondays?")])
assert "closed" in followed.text, followed

# Responses that the server stores: the client sends the id of the one before.
stored = ChatOpenAI(**options, use_responses_api=True, use_previous_response_id=True, store=True)
first = stored.invoke(history)
second = stored.invoke([*history, first, HumanMessage("And on Mondays?")])
assert "closed" in second.text, second
