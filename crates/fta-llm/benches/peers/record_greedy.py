"""Records what llama.cpp says to fixed prompts, greedily: the fixtures `tests/fixtures/greedy-*.json`.

usage: record_greedy.py MODELS_FOLDER OUTPUT_FOLDER

MODELS_FOLDER holds a folder for each model with its `model.gguf`. Keys and values are kept in single precision and
one thread computes, so that nothing but the products' own rounding differs from an exact computation.
"""

import json
import pathlib
import sys

import numpy
from llama_cpp import Llama

SYSTEM = "You answer in one short sentence."
QUESTIONS = [
    "Why is the sky blue?",
    "Write the letters of the alphabet, separated by commas.",
    "Say the numbers 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 again.",
    "Anna said on Monday: \"I adopted a puppy, his name is Biscuit!\"  \nWhat did Anna adopt, and when? It cost 1250 euros.",
    # Longer than the window of models that look at one.
    "\n".join(f"Note {i}: article {i * 37 % 101} costs {i * 53 % 97} euros." for i in range(1, 41))
    + "\nWhat does article 73 cost?",
]
MODELS = {
    "smollm2-135m": "chatml",
    "qwen2.5-coder-0.5b": "chatml",
    "qwen2.5-coder-1.5b": "chatml",
    "gemma3-270m": "plain",
}


def prompt(form, question):
    if form == "chatml":
        return (
            f"<|im_start|>system\n{SYSTEM}<|im_end|>\n<|im_start|>user\n{question}<|im_end|>\n<|im_start|>assistant\n"
        )
    return f"{SYSTEM}\n\nUser: {question}\n\nAssistant:"


def main(models, output):
    for name, form in MODELS.items():
        path = pathlib.Path(models) / name / "model.gguf"
        model = Llama(
            str(path), n_ctx=2048, n_threads=1, n_threads_batch=1, type_k=0, type_v=0, flash_attn=False,
            logits_all=True, verbose=False,
        )
        cases = []
        for question in QUESTIONS:
            ids = model.tokenize(prompt(form, question).encode(), add_bos=form == "plain", special=True)
            model.reset()
            tokens = []
            for token in model.generate(ids, temp=0.0, repeat_penalty=1.0):
                if len(tokens) == 32 or token == model.token_eos():
                    break
                tokens.append(token)
            text = model.detokenize(tokens).decode("utf-8", "replace")
            # How far each token was ahead of the next best: other roundings may choose otherwise where it is little.
            model.reset()
            model.eval(list(ids) + tokens)
            best = [numpy.sort(model.scores[len(ids) - 1 + i])[-2:] for i in range(len(tokens))]
            margins = [round(float(second[1] - second[0]), 3) for second in best]
            cases.append(
                {"question": question, "prompt": list(ids), "tokens": tokens, "margins": margins, "text": text}
            )
        record = {
            "made_by": "llama-cpp-python 0.3.36, benches/peers/record_greedy.py",
            "system": SYSTEM,
            "cases": cases,
        }
        file = pathlib.Path(output) / f"greedy-{name}.json"
        file.write_text(json.dumps(record, ensure_ascii=False, indent=1) + "\n")
        print(name, [case["text"] for case in cases])


if __name__ == "__main__":
    main(*sys.argv[1:])
