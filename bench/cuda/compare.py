# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The workloads of scripts/bench --cuda in PyTorch, and the timing of everything: PyTorch's three ways and the kernels of a built
library (bench/cuda/library.cu) on the same buffers in one process. scripts/bench imports this where PyTorch is installed."""
import ctypes, json, math, os, time

import torch
import torch.nn.functional as F

dev = 'cuda'
bf, f32, i8, u8 = torch.bfloat16, torch.float32, torch.int8, torch.uint8


def rnd(*shape, dtype=bf):
    return torch.randn(*shape, device=dev, dtype=f32).to(dtype) if math.prod(shape) < 2**28 else torch.randn(*shape, device=dev, dtype=dtype)


def rint(*shape, low=-128, high=128, dtype=i8):
    return torch.randint(low, high, shape, device=dev, dtype=torch.int16).to(dtype)


# Each returns (function, arguments) and, where results may cancel to nearly nothing, the size of what is added up. What must be moved
# at least is the arguments and the results. (A causal softmax needn't read what it masks; all the same its bytes count.)

def bias_gelu(m, n, dt):
    return (lambda x, b: F.gelu(x + b, approximate='tanh')), (rnd(m, n, dtype=dt), rnd(n, dtype=dt)), 0.1


def swiglu(m, n, dt):
    return (lambda g, u: F.silu(g) * u), (rnd(m, n, dtype=dt), rnd(m, n, dtype=dt))


def normalized(h):
    h = h.float()
    return h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + 1e-5)


def residual_rmsnorm(m, n, dt):
    def fn(x, r, w):
        h = x + r
        return h, normalized(h).to(h.dtype) * w
    return fn, (rnd(m, n, dtype=dt), rnd(m, n, dtype=dt), rnd(n, dtype=dt))


def rmsnorm(m, n, dt):
    return (lambda x, w: normalized(x).to(x.dtype) * w), (rnd(m, n, dtype=dt), rnd(n, dtype=dt))


def layernorm(m, n, dt):
    return (lambda x, w, b: F.layer_norm(x, (n,), w, b)), (rnd(m, n, dtype=dt), rnd(n, dtype=dt), rnd(n, dtype=dt))


def softmax(m, n, dt):
    return (lambda x: torch.softmax(x, -1)), (rnd(m, n, dtype=dt),)


def causal_softmax(b, s, dt):
    def fn(x):
        i = torch.arange(s, device=x.device)
        return torch.softmax((x * 0.125).float().masked_fill(i[None, :] > i[:, None], -float('inf')), -1).to(x.dtype)
    return fn, (rnd(b, s, s, dtype=dt),)


def rmsnorm_quant(m, n, dt):
    def fn(x, w):
        y = normalized(x) * w.float()
        s = y.abs().amax(-1, keepdim=True).clamp(min=1e-8) / 127.0
        return torch.clamp(torch.round(y / s), -128, 127).to(i8), s
    return fn, (rnd(m, n, dtype=dt), rnd(n, dtype=dt))


def quantize(n):
    return (lambda x: torch.clamp(torch.round(x * (1 / 0.05)) + 3, -128, 127).to(i8)), (rnd(n, dtype=f32),)


def qadd_relu(n):
    def fn(a, b):
        y = torch.relu((a.float() - 3) * 0.05 + (b.float() + 7) * 0.03)
        return torch.clamp(torch.round(y * (1 / 0.04)) - 5, -128, 127).to(i8)
    return fn, (rint(n), rint(n))


def cross_entropy(m, n, dt):
    return (lambda x, t: F.cross_entropy(x.float(), t, reduction='none')), (rnd(m, n, dtype=dt), torch.randint(0, n, (m,), device=dev))


def logsumexp(m, n, dt):
    return (lambda x: torch.logsumexp(x.float(), -1)), (rnd(m, n, dtype=dt),)


def dot(n):
    return (lambda x, y: (x * y).sum()), (rnd(n, dtype=f32), rnd(n, dtype=f32)), n**0.5


def huber(n):
    return (lambda x, y: F.huber_loss(x, y)), (rnd(n, dtype=f32), rnd(n, dtype=f32))


def col_sum(m, n, dt):
    return (lambda x: x.sum(0, dtype=f32)), (rnd(m, n, dtype=dt),), m**0.5


def col_var_mean(m, n):
    return (lambda x: torch.var_mean(x, 0, correction=0)), (rnd(m, n, dtype=f32),), 1.0


def bn_relu_nhwc(b, h, w, c, dt):
    mean, variance, weight, bias = (rnd(c, dtype=f32) for _ in range(4))
    return ((lambda x, m, v, w, b: torch.relu((x.float() - m) * (torch.rsqrt(v + 1e-5) * w) + b).to(x.dtype)),
            (rnd(b, h, w, c, dtype=dt), mean, variance.abs() + 0.1, weight, bias))


def image_norm(b, h, w):
    return ((lambda x, m, s: ((x.float() * (1 / 255.0) - m) * s).permute(0, 3, 1, 2).contiguous()),
            (rint(b, h, w, 3, low=0, high=256, dtype=u8), rnd(3, dtype=f32), rnd(3, dtype=f32)))


def transpose_add(n):
    return (lambda x, y: x + y.t()), (rnd(n, n, dtype=f32), rnd(n, n, dtype=f32))


def argmax(m, n, dt):
    return (lambda x: x.argmax(-1)), (rnd(m, n, dtype=dt),)


def adamw(n):
    def fn(p, g, m, v):
        m = 0.9 * m + 0.1 * g
        v = 0.999 * v + 0.001 * g * g
        return p * (1 - 1e-5) - 1e-3 * (m / 0.5) / (torch.sqrt(v / 0.3) + 1e-8), m, v
    p, g, m, v = (rnd(n, dtype=f32) for _ in range(4))
    return fn, (p, g, m, v.abs())


def particles(n):
    def fn(px, py, pz, vx, vy, vz):
        r2 = px * px + py * py + pz * pz + 0.01
        k = -torch.rsqrt(r2) / r2 * 0.016
        vx, vy, vz = vx + k * px, vy + k * py, vz + k * pz
        return px + vx * 0.016, py + vy * 0.016, pz + vz * 0.016, vx, vy, vz
    return fn, tuple(rnd(n, dtype=f32) for _ in range(6))


def depth_points(b, h, w):
    def fn(d):
        z = d.float() * 0.001
        u = torch.arange(w, device=d.device, dtype=f32)
        v = torch.arange(h, device=d.device, dtype=f32)[:, None]
        return torch.stack(((u - 960.0) * z * (1 / 1400.0), (v - 540.0) * z * (1 / 1400.0), z), -1)
    return fn, (rint(b, h, w, low=0, high=8000, dtype=torch.int16),)


def rope(b, s, h, d, dt):
    def fn(x, c, s):
        low, high = x[..., :d // 2].float(), x[..., d // 2:].float()
        c, s = c[None, :, None], s[None, :, None]
        return torch.cat((low * c - high * s, high * c + low * s), -1).to(x.dtype)
    return fn, (rnd(b, s, h, d, dtype=dt), rnd(s, d // 2, dtype=f32), rnd(s, d // 2, dtype=f32))


def gemv(n, k, activations):
    return ((lambda a, w, s, b: torch.relu((w.float() * a.float()).sum(-1) * s + b)),
            (rint(1, k) if activations == i8 else rnd(1, k, dtype=activations), rint(n, k), rnd(n, dtype=f32), rnd(n, dtype=f32)),
            74 * k**0.5 * (74 if activations == i8 else 1))


SUITE = {
    'bias_gelu_16384x4096_bf16': lambda: bias_gelu(16384, 4096, bf),
    'swiglu_8192x14336_bf16': lambda: swiglu(8192, 14336, bf),
    'residual_rmsnorm_16384x4096_bf16': lambda: residual_rmsnorm(16384, 4096, bf),
    'residual_rmsnorm_16384x8192_bf16': lambda: residual_rmsnorm(16384, 8192, bf),
    'rmsnorm_32768x1024_bf16': lambda: rmsnorm(32768, 1024, bf),
    'rmsnorm_4096x32768_bf16': lambda: rmsnorm(4096, 32768, bf),
    'rmsnorm_16384x4096_f32': lambda: rmsnorm(16384, 4096, f32),
    'layernorm_16384x4096_bf16': lambda: layernorm(16384, 4096, bf),
    'layernorm_65536x768_f32': lambda: layernorm(65536, 768, f32),
    'softmax_16384x4096_bf16': lambda: softmax(16384, 4096, bf),
    'softmax_65536x1024_f32': lambda: softmax(65536, 1024, f32),
    'softmax_4096x32768_bf16': lambda: softmax(4096, 32768, bf),
    'softmax_2048x131072_bf16': lambda: softmax(2048, 131072, bf),
    'softmax_262144x128_f32': lambda: softmax(262144, 128, f32),
    'causal_softmax_32x2048x2048_bf16': lambda: causal_softmax(32, 2048, bf),
    'rmsnorm_quant_i8_16384x4096_bf16': lambda: rmsnorm_quant(16384, 4096, bf),
    'quantize_i8_2^27_f32': lambda: quantize(2**27),
    'qadd_relu_i8_2^28': lambda: qadd_relu(2**28),
    'quantize_q8_2^27_f32': lambda: quantize(2**27),
    'qadd_relu_q8_2^28': lambda: qadd_relu(2**28),
    'rmsnorm_dynamic_i8_16384x4096_bf16': lambda: rmsnorm_quant(16384, 4096, bf),
    'cross_entropy_8192x32768_bf16': lambda: cross_entropy(8192, 32768, bf),
    'cross_entropy_4096x128256_bf16': lambda: cross_entropy(4096, 128256, bf),
    'logsumexp_16384x4096_f32': lambda: logsumexp(16384, 4096, f32),
    'dot_2^27_f32': lambda: dot(2**27),
    'huber_2^27_f32': lambda: huber(2**27),
    'col_sum_65536x1024_f32': lambda: col_sum(65536, 1024, f32),
    'col_var_mean_65536x1024_f32': lambda: col_var_mean(65536, 1024),
    'bn_relu_nhwc_64x56x56x256_bf16': lambda: bn_relu_nhwc(64, 56, 56, 256, bf),
    'image_norm_16x1080x1920x3_u8': lambda: image_norm(16, 1080, 1920),
    'transpose_add_8192_f32': lambda: transpose_add(8192),
    'argmax_4096x128256_bf16': lambda: argmax(4096, 128256, bf),
    'adamw_2^26_f32': lambda: adamw(2**26),
    'particles_2^25_f32': lambda: particles(2**25),
    'depth_points_32x1080x1920_i16': lambda: depth_points(32, 1080, 1920),
    'rope_4x4096x32x128_bf16': lambda: rope(4, 4096, 32, 128, bf),
    'gemv_w8a8_16384x16384_i8': lambda: gemv(16384, 16384, i8),
    'gemv_w8_16384x16384_bf16': lambda: gemv(16384, 16384, bf),
    'rmsnorm_8x4096_bf16_small': lambda: rmsnorm(8, 4096, bf),
    'softmax_64x1024_f32_small': lambda: softmax(64, 1024, f32),
    'qadd_relu_i8_2^16_small': lambda: qadd_relu(2**16),
}


class Flush:
    """A cold second-level cache: writes, then reads, since dirty lines of a write alone would cost the next kernel about 10 us. Before
    it the GPU idles for long enough that the host has launched everything when the timed call's turn comes: kernels are timed, not launches."""

    def __init__(self):
        self.memory = torch.zeros(2**26, device=dev, dtype=torch.int32)
        self.turn = 0

    def __call__(self):
        self.turn += 1
        torch.cuda._sleep(600_000)
        self.memory[:2**25].fill_(self.turn)
        torch.sum(self.memory[2**25:].view(f32))


def median_us(call, flush, least=12, seconds=0.06):
    times, spent = [], 0.0
    for _ in range(2):
        call()
    while len(times) < least or (spent < seconds and len(times) < 60):
        flush()
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        call()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end))
        spent += times[-1] * 1e-3
    times.sort()
    return times[len(times) // 2] * 1e3


def graph_us(call):
    """One call of twenty in a replayed graph."""
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for _ in range(3):
            call()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(20):
            call()
    for _ in range(3):
        graph.replay()
    torch.cuda.synchronize()
    times = []
    for _ in range(25):
        torch.cuda._sleep(100_000)  # the host has launched the graph when its turn comes
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        graph.replay()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end))
    times.sort()
    return times[len(times) // 2] * 1e3 / 20


class Library:
    """The kernels behind their C functions."""

    def __init__(self, path):
        self.code = ctypes.CDLL(path)
        self.code.sinter_bench_run.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.POINTER(ctypes.c_void_p), ctypes.c_void_p, ctypes.c_void_p, ctypes.c_longlong]
        self.code.sinter_bench_run.restype = ctypes.c_char_p
        self.code.sinter_bench_plain.argtypes = [ctypes.c_longlong, ctypes.c_longlong, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
        self.code.sinter_bench_cub.argtypes = [ctypes.c_char_p, ctypes.POINTER(ctypes.c_void_p), ctypes.c_void_p, ctypes.c_longlong, ctypes.c_void_p]
        self.workspace = torch.empty(2**24, device=dev, dtype=u8)

    def call(self, policy, name, tensors):
        """A function that launches, or None where the library has no such kernel. It raises what the launch reports."""
        pointers = (ctypes.c_void_p * len(tensors))(*[t.data_ptr() for t in tensors])
        run, word, space, room = self.code.sinter_bench_run, name.encode(), self.workspace.data_ptr(), self.workspace.numel()

        def launch():
            said = run(policy, word, pointers, torch.cuda.current_stream().cuda_stream, space, room)
            if said:
                raise RuntimeError(said.decode())
        try:
            launch()
        except RuntimeError as why:
            if str(why) == 'unknown':
                return None
            raise
        return launch

    def plain(self, reads, writes, source, target):
        """A kernel that reads and writes as many bytes in the same mix."""
        def launch():
            self.code.sinter_bench_plain(reads, writes, source.data_ptr(), target.data_ptr(), torch.cuda.current_stream().cuda_stream)
        return launch

    def cub(self, name, tensors):
        pointers = (ctypes.c_void_p * len(tensors))(*[t.data_ptr() for t in tensors])
        run, word, space, room = self.code.sinter_bench_cub, name.encode(), self.workspace.data_ptr(), self.workspace.numel()

        def launch():
            return run(word, pointers, space, room, torch.cuda.current_stream().cuda_stream)
        return launch if launch() == 0 else None


def difference(found, expected, scale):
    """The largest error as a share of the tolerance of the type: at most 1 is right. Codes may differ by one, indices not at all.
    PyTorch rounds to bfloat16 between operations, here and there, hence two places."""
    found, expected = found.reshape(-1), expected.reshape(-1)
    if expected.dtype in (torch.int8, torch.uint8):
        return float((found.int() - expected.int()).abs().max())
    if not expected.dtype.is_floating_point:
        return 0.0 if torch.equal(found, expected) else math.inf
    unit = 2.0**-6 if expected.dtype == bf else 2.0**-13
    floor = scale or 1e-2 * float(expected[:2**20].float().abs().mean())
    worst = 0.0
    for at in range(0, expected.numel(), 2**26):  # in parts: these are large
        f, e = found[at:at + 2**26].float(), expected[at:at + 2**26].float()
        worst = max(worst, float(((f - e).abs() / (unit * (floor + e.abs()))).nan_to_num(math.inf).max()))
    return worst


def call_overhead():
    """Host's microseconds per call of the chain of overhead.cu, eager and compiled, median of 500 turns of 16 calls with an empty queue."""
    x, y = (torch.rand(4096, device=dev) for _ in range(2))

    def chain(x, y):
        a = x * 0.5 + y
        b = torch.relu(a) - x
        c = b * b + a
        return torch.clamp_max(c.abs() * 2.0 - y, 100.0) + b * x
    torch._dynamo.reset()
    found = {}
    for key, call in (('eager_us', chain), ('compile_us', torch.compile(chain, dynamic=False))):
        call(x, y)
        turns = []
        for _ in range(500):
            torch.cuda.synchronize()
            begin = time.perf_counter()
            for _ in range(16):
                call(x, y)
            turns.append((time.perf_counter() - begin) / 16 * 1e6)
        found[key] = round(sorted(turns)[250], 3)
    return found


def measure(options, save, show):
    """Runs what is asked for; `save(head, rows)` after each workload, `show(row)`."""
    torch.manual_seed(0)
    begin = time.time()
    flush = Flush()
    source, target = rnd(2**28, dtype=f32), torch.empty(2**28, device=dev, dtype=f32)
    library = Library(os.path.abspath(options.library)) if options.library else None
    copy = 8 * 2**28 / median_us(lambda: target.copy_(source), flush) * 1e-3
    head = dict(card=torch.cuda.get_device_name(), torch=torch.__version__, copy_gb_per_s=round(copy))
    known = {}
    if options.rivals:
        recorded = json.load(open(options.rivals))
        if recorded['card'] != head['card']:
            raise SystemExit(f"{options.rivals} was recorded on another card: {recorded['card']}")
        known = {row['name']: row for row in recorded['results']}
    show(head, None)
    for name, make in SUITE.items():
        if not any(part in name for part in options.filter.split(',')):
            continue
        if options.seconds and time.time() - begin > options.seconds:
            show(head, dict(name=name, error='left out: the time is up'))
            continue
        try:
            torch._dynamo.reset()
            fn, arguments, *scale = make()
            small = name.endswith('_small')
            timed = graph_us if small else (lambda call: median_us(call, flush))
            expected = fn(*arguments)
            expected = list(expected) if isinstance(expected, tuple) else [expected]
            size = lambda tensors: sum(t.numel() * t.element_size() for t in tensors)
            row = dict(name=name, read=size(arguments), written=size(expected))
            row['bytes'] = row['read'] + row['written']
            for key in ('eager_us', 'compile_us', 'autotune_us', 'compile_s', 'autotune_s'):
                if key in known.get(name, {}):
                    row[key] = known[name][key]
            if library:
                outputs = [torch.full_like(t, 85) for t in expected]
                for policy, key in enumerate(('portable', 'fast')):
                    if options.policies and key not in options.policies:
                        continue
                    for t in outputs:
                        t.fill_(85)
                    call = library.call(policy, name, [*arguments, *outputs])
                    if call is None:
                        continue
                    row[key + '_error'] = round(max(difference(o, e, scale[0] if scale else None) for o, e in zip(outputs, expected)), 3)
                    if row[key + '_error'] > 1:
                        raise RuntimeError(f'{key}: results differ from PyTorch, {row[key + "_error"]} x the tolerance')
                    row[key + '_us'] = round(timed(call), 3)
                call = library.cub(name, [*arguments, *outputs])
                if call:
                    row['cub_us'] = round(timed(call), 3)
                del outputs
                if not small:
                    row['plain_us'] = round(timed(library.plain(row['read'], row['written'], source, target)), 3)
            del expected
            if not options.no_rivals:
                if 'eager_us' not in row:
                    row['eager_us'] = round(timed(lambda: fn(*arguments)), 3)
                ways = [('compile', {})] + ([] if options.no_autotune else [('autotune', {'max_autotune': True, 'coordinate_descent_tuning': True})])
                for key, more in ways:
                    if key + '_us' in row or (options.seconds and time.time() - begin > options.seconds):
                        continue
                    torch._dynamo.reset()
                    compiled = torch.compile(fn, dynamic=False, options=more) if more else torch.compile(fn, dynamic=False)
                    started = time.time()
                    compiled(*arguments)
                    torch.cuda.synchronize()
                    row[key + '_s'] = round(time.time() - started, 2)
                    row[key + '_us'] = round(timed(lambda: compiled(*arguments)), 3)
        except Exception as why:  # the rest of the table is wanted all the same
            row = dict(name=name, error=f'{type(why).__name__}: {str(why)[:200]}')
        fn = arguments = outputs = compiled = call = expected = None
        torch.cuda.empty_cache()
        save(head, row)
        show(head, row)
