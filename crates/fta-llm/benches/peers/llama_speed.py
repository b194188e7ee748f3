"""Tokens per second of processor time, in turns with llama.cpp on the same machine, one thread each.

usage: llama_speed.py LLM_SPEED MODEL_FILE [ROUNDS]

LLM_SPEED is the built example `llm_speed`. Prints a line for each round of each program, then the ratios of medians.
"""

import json
import os
import statistics
import subprocess
import sys
import time

import numpy
from llama_cpp import Llama

PROMPT, REPLY = 512, 64


def llama(model, seed):
    """Speeds of one prompt and of one reply; which tokens they are does not matter to the time."""
    random = numpy.random.default_rng(seed)
    vocabulary = min(model.n_vocab(), 30000)
    prompt = [int(token) for token in random.integers(1000, vocabulary, PROMPT)]
    model.reset()
    began = time.process_time()
    model.eval(prompt)
    prefill = PROMPT / (time.process_time() - began)
    began = time.process_time()
    for _ in range(REPLY):
        model.eval([int(random.integers(1000, vocabulary))])
    return {"prefill": round(prefill, 1), "decode": round(REPLY / (time.process_time() - began), 1)}


def ours(program, path, products):
    options = ["--model", path, "--prompt", str(PROMPT), "--reply", str(REPLY), "--rounds", "1", "--products", products]
    environment = {**os.environ, "RAYON_NUM_THREADS": "1"}
    done = subprocess.run([program, *options], check=True, capture_output=True, text=True, env=environment)
    return json.loads(done.stdout.splitlines()[-1])


def main(program, path, rounds="3"):
    results = {"llama.cpp": [], "ours": [], "candle": []}
    model = Llama(path, n_ctx=2048, n_threads=1, n_threads_batch=1, verbose=False)
    for seed in range(int(rounds)):
        for name, run in [
            ("ours", lambda: ours(program, path, "automatic")),
            ("llama.cpp", lambda: llama(model, seed)),
            ("candle", lambda: ours(program, path, "candle")),
        ]:
            result = run()
            results[name].append(result)
            print(name, json.dumps(result), flush=True)

    def median(name, key):
        return statistics.median(result[key] for result in results[name])

    for name in ["ours", "candle"]:
        ratios = {key: round(median(name, key) / median("llama.cpp", key), 2) for key in ["prefill", "decode"]}
        print(f"{name} / llama.cpp", json.dumps(ratios))


if __name__ == "__main__":
    main(*sys.argv[1:])
