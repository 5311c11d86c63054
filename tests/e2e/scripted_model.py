"""Writes a GGUF file whose model says what a script says. llama.cpp loads and runs it as it does any other model.

The weights are a table. Embeddings are one-hot, attention and feed-forward are zero, and the output matrix holds one
successor for each token, so generation walks along a chain of tokens until it reaches the end of the message. The chat
template chooses the chain: it looks for a keyword in the last prompt and ends the model's prompt with the control token
from which that chain starts. All other text is one token a byte, so a small context fills quickly and every count can be
computed by hand.

    python scripted_model.py FILE
"""

import sys
from dataclasses import dataclass, field

# --- what the model says ---

SECRET = "ghp_" + "a1B2c3D4e5F6" * 3  # looks like a key of GitHub
STORY = [f"{' ' if i else ''}step{i}" for i in range(120)]  # a long answer that ends
FENCE = "`" * 3


def call(name, arguments):
    """Text that llama.cpp parses into a call of a tool."""
    return f'<tool_call>\n{{"name": "{name}", "arguments": {arguments}}}\n</tool_call>'


# Name of a chain -> its tokens. A number is one byte. Every text must be used once: a token has one successor.
CHAINS = {
    "text": ["The capital", " of France", " is Paris."],
    "after": ["It is", " sunny", " there!"],
    "done": ["I have", " looked", " at both."],
    "weather": ["<tool_call>", '\n{"name": "get_weather", "arguments": {"city": "', "Par", 'is"}}', "\n</tool_call>"],
    "two": [call("get_time", "{}"), '\n<tool_call>\n{"name": "get_weather", "arguments": ', '{"city": "Rome"}}\n</tool_call>'],
    "list": ['<tool_call>\n{"name": "list_files", "argu', 'ments": {"path": "."}}\n</tool_call>'],
    "read": ['<tool_call>\n{"name": "read_file", "argu', 'ments": {"path": "notes.txt"}}\n</tool_call>'],
    "write": ['<tool_call>\n{"name": "write_file", "argu', 'ments": {"path": "made.txt", ', '"content": "made by the model"}}\n</tool_call>'],
    "run": ['<tool_call>\n{"name": "run_command", "argu', 'ments": {"command": ', '"echo ran >> ran.txt"}}\n</tool_call>'],
    "slow": ['<tool_call>\n{"name": "run_command", "arguments": {', '"command": "sleep 600"}}\n</tool_call>'],
    "pair": ['<tool_call>\n{"name": "read_file", "arguments": {"path": "notes.txt"}}\n</tool_call>',
             '\n<tool_call>\n{"name": "read_file", "arguments": {"path": "absent.txt"}}\n</tool_call>'],
    "unknown": ['<tool_call>\n{"name": "no_such_tool", "arguments": {}}', "\n</tool_call>"],
    "think": ["<think>", "\nLet me", " ponder\n", "</think>", "\n\nDone", " thinking."],
    "code": ["Here:\n", FENCE + "python\n", "print('hi')\n", FENCE, "\nEnd."],
    "utf8": ["Smile ", 0xF0, 0x9F, 0x98, 0x80],  # one emoji in four tokens
    "secret": ["The key is ", SECRET[:9], SECRET[9:21], SECRET[21:], " and nothing else."],
    "story": STORY,
}
ENDLESS = ["lorem", " ipsum", " dolor", " sit", " amet"]  # the last is followed by the second

# A keyword of the prompt and the chains that follow: the first answers the prompt, each next one the tools' results.
# The last one stays. A chain of tool calls needs tools in the request. The first keyword that is found decides.
KEYWORDS = [
    ("WEATHER", ["weather", "after"]), ("TWO", ["two", "after"]), ("LIST", ["list", "after"]), ("READ", ["read", "after"]),
    ("WRITE", ["write", "after"]), ("RUN", ["run", "after"]), ("SLOW", ["slow", "after"]), ("PAIR", ["pair", "after"]), ("UNKNOWN", ["unknown", "after"]),
    ("STEPS", ["list", "read", "done"]), ("LOOP", ["list"]), ("LONG", ["long"]), ("THINK", ["think"]), ("CODE", ["code"]), ("UTF8", ["utf8"]),
    ("SECRET", ["secret"]), ("STORY", ["story"]),
]
TOOL_CHAINS = {"weather", "two", "list", "read", "write", "run", "slow", "pair", "unknown"}


def said(chain):
    """The text of a chain that has no tool call."""
    return b"".join(bytes([step]) if isinstance(step, int) else step.encode() for step in CHAINS[chain]).decode()


# --- the chat template ---

SYSTEM = "messages[0]['content'] if messages[0]['role'] == 'system' else 'You are helpful.'"
# How llama.cpp recognises the form of tool calls: the instructions of the Hermes and Qwen templates.
INSTRUCTIONS = ("\\n</tools>\\nFor each call return\\n<tool_call>\\n{\"name\": <function-name>, \"arguments\": <args-json-object>}\\n"
                "</tool_call><|im_end|>\\n")


def selection():
    """Template code that writes the control token of the chain to walk."""
    parts = []
    for keyword, chains in KEYWORDS:
        needs = " and tools" if chains[0] in TOOL_CHAINS else ""
        steps = "".join(f"{{%- {'if' if i == 0 else 'elif'} seen.steps == {i} %}}{{{{- '<|s_{name}|>' }}}}" for i, name in enumerate(chains[:-1]))
        last = f"{{{{- '<|s_{chains[-1]}|>' }}}}"
        body = f"{steps}{{%- else %}}{last}{{%- endif %}}" if steps else last
        parts.append(f"{{%- {'elif' if parts else 'if'} '{keyword}' in seen.prompt{needs} %}}{body}")
    return "".join(parts) + "{%- else %}{{- '<|s_text|>' }}{%- endif %}"


def template():
    return "".join([
        # The last prompt, and how often the model has called tools since.
        "{%- set seen = namespace(prompt='', steps=0) %}",
        "{%- for m in messages %}{%- if m.role == 'user' %}{%- set seen.prompt = m.content %}{%- set seen.steps = 0 %}",
        "{%- elif m.role == 'assistant' and m.tool_calls %}{%- set seen.steps = seen.steps + 1 %}{%- endif %}{%- endfor %}",
        "{%- if tools %}{{- '<|im_start|>system\\n' + (", SYSTEM, ") + '\\n\\n# Tools\\n<tools>' }}",
        "{%- for t in tools %}{{- '\\n' }}{{- t | tojson }}{%- endfor %}{{- '", INSTRUCTIONS, "' }}",
        "{%- elif messages[0]['role'] == 'system' %}{{- '<|im_start|>system\\n' + messages[0]['content'] + '<|im_end|>\\n' }}{%- endif %}",
        "{%- for m in messages %}",
        "{%- if m.role == 'user' or (m.role == 'system' and not loop.first) %}{{- '<|im_start|>' + m.role + '\\n' + m.content + '<|im_end|>\\n' }}",
        "{%- elif m.role == 'assistant' %}{{- '<|im_start|>assistant\\n' }}",
        "{%- if m.reasoning_content %}{{- '<think>\\n' + m.reasoning_content + '\\n</think>\\n\\n' }}{%- endif %}",
        "{%- if m.content %}{{- m.content }}{%- endif %}",
        "{%- for c in (m.tool_calls or []) %}{%- if c.function is defined %}{%- set c = c.function %}{%- endif %}",
        "{{- '\\n<tool_call>\\n{\"name\": \"' }}{{- c.name }}{{- '\", \"arguments\": ' }}{{- c.arguments | tojson }}{{- '}\\n</tool_call>' }}{%- endfor %}",
        "{{- '<|im_end|>\\n' }}",
        "{%- elif m.role == 'tool' %}{{- '<|im_start|>user\\n<tool_response>\\n' + m.content + '\\n</tool_response><|im_end|>\\n' }}{%- endif %}",
        "{%- endfor %}",
        "{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}", selection(), "{%- endif %}",
    ])


# --- tokens and the table of successors ---

NORMAL, CONTROL, USER_DEFINED = 1, 3, 4


def byte_names():
    """GPT-2's printable character for each byte, which is how a vocabulary names bytes."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in plain]
    return {byte: chr(byte) for byte in plain} | {byte: chr(256 + i) for i, byte in enumerate(others)}


@dataclass
class Vocabulary:
    tokens: list = field(default_factory=lambda: [name for _, name in sorted(byte_names().items())] + ["th"])  # a merge needs one pair
    types: list = field(default_factory=lambda: [NORMAL] * 257)
    ids: dict = field(default_factory=dict)
    successor: dict = field(default_factory=dict)

    def token(self, text, kind):
        if text not in self.ids:
            self.ids[text] = len(self.tokens)
            self.tokens.append(text)
            self.types.append(kind)
        return self.ids[text]

    def chain(self, name, steps, end):
        """Adds a chain. Returns its last token, which `end` follows unless that is None."""
        current = self.token(f"<|s_{name}|>", CONTROL)
        for step in [*steps, *([end] if end is not None else [])]:
            following = step if isinstance(step, int) else self.token(step, USER_DEFINED)
            assert self.successor.setdefault(current, following) == following, f"{self.tokens[current]!r} has two successors"
            current = following
        return current


def vocabulary():
    made = Vocabulary()
    end_of_text, _, end_of_message = (made.token(text, CONTROL) for text in ("<|endoftext|>", "<|im_start|>", "<|im_end|>"))
    for name, steps in CHAINS.items():
        made.chain(name, steps, end_of_message)
    last = made.chain("long", ENDLESS, None)
    made.successor[last] = made.ids[ENDLESS[1]]
    return made, end_of_text, end_of_message


def write(path):
    import gguf
    import numpy as np

    words, end_of_text, end_of_message = vocabulary()
    count = len(words.tokens)
    width = -(-count // 64) * 64
    certain, likely = 60 / width**0.5, 20 / width**0.5  # the norm divides a one-hot row by 1 / sqrt(width)

    writer = gguf.GGUFWriter(str(path), "llama")
    writer.add_name("scripted")
    writer.add_context_length(131072)
    writer.add_embedding_length(width)
    writer.add_block_count(1)
    writer.add_feed_forward_length(32)
    writer.add_head_count(width // 64)
    writer.add_head_count_kv(width // 64)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_rope_dimension_count(64)
    writer.add_vocab_size(count)
    writer.add_file_type(0)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(words.tokens)
    writer.add_token_types(words.types)
    writer.add_token_merges(["t h"])
    writer.add_bos_token_id(end_of_text)
    writer.add_eos_token_id(end_of_message)
    writer.add_pad_token_id(end_of_text)
    writer.add_add_bos_token(False)
    writer.add_chat_template(template())

    one_hot = np.zeros((count, width), np.float32)
    one_hot[range(count), range(count)] = 1
    table = np.zeros((count, width), np.float32)
    for token in range(count):
        if token in words.successor:
            table[words.successor[token], token] = certain
        else:
            table[end_of_message, token] = likely  # a prompt that selects nothing gets an empty answer
    writer.add_tensor("token_embd.weight", one_hot)
    for name in ("attn_norm", "ffn_norm"):
        writer.add_tensor(f"blk.0.{name}.weight", np.ones(width, np.float32))
    for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
        writer.add_tensor(f"blk.0.{name}.weight", np.zeros((width, width), np.float16))
    for name, shape in (("ffn_gate", (32, width)), ("ffn_up", (32, width)), ("ffn_down", (width, 32))):
        writer.add_tensor(f"blk.0.{name}.weight", np.zeros(shape, np.float16))
    writer.add_tensor("output_norm.weight", np.ones(width, np.float32))
    writer.add_tensor("output.weight", table)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    write(sys.argv[1])
