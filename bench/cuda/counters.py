# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""scripts/bench --cuda --counters: what Nsight Compute counts of each workload's kernel, one line a kernel. Run by scripts/bench with ncu
around this file (launch_all), which launches each workload once between the profiler's start and stop; counters are read with a cold
second-level cache and clocks as they are."""
import csv, io, json, os, re, shutil, subprocess, sys, tempfile

# title, unit's width, metric, factor
COUNTED = [
    ('us', 8, 'gpu__time_duration.sum', None),
    ('dram %', 8, 'dram__throughput.avg.pct_of_peak_sustained_elapsed', 1),
    ('MB read', 9, 'dram__bytes_read.sum', None),
    ('written', 9, 'dram__bytes_write.sum', None),
    ('issue %', 8, 'smsp__issue_active.avg.pct_of_peak_sustained_elapsed', 1),
    ('L1 %', 6, 'l1tex__throughput.avg.pct_of_peak_sustained_elapsed', 1),
    ('L2 %', 6, 'lts__throughput.avg.pct_of_peak_sustained_elapsed', 1),
    ('busy %', 8, None, 1),  # of the kernel's time that a multiprocessor has anything to do: the rest is ramp and tail
    ('warps', 6, 'sm__warps_active.avg.per_cycle_active', 1),
    ('regs', 5, 'launch__registers_per_thread', 1),
    ('threads', 8, 'launch__block_size', 1),
    ('blocks', 8, 'launch__grid_size', 1),
    ('waves', 7, 'launch__waves_per_multiprocessor', 1),
]
MORE = ['sm__cycles_active.avg', 'sm__cycles_elapsed.max', 'smsp__inst_executed.sum']
UNITS = {'ns': 1e-3, 'nsecond': 1e-3, 'us': 1, 'usecond': 1, 'ms': 1e3, 'msecond': 1e3, 'byte': 1e-6, 'Kbyte': 1e-3, 'Mbyte': 1, 'Gbyte': 1e3}
STALL = re.compile(r'smsp__average_warps_issue_stalled_(\w+)_per_issue_active')


def launch_all(library, wanted, policies):
    """In the process that is profiled: a kernel of each workload and policy; their names go to the standard output."""
    import torch
    import compare
    kernels = compare.Library(os.path.abspath(library))
    for name, make in compare.SUITE.items():
        if not any(part in name for part in wanted.split(',')):
            continue
        fn, arguments, *_ = make()
        outputs = [torch.empty_like(t) for t in (lambda given: given if isinstance(given, tuple) else (given,))(fn(*arguments))]
        for policy, key in enumerate(('portable', 'fast')):
            if policies and key not in policies:
                continue
            call = kernels.call(policy, name, [*arguments, *outputs])
            if call is None:
                continue
            torch.cuda.synchronize()
            torch.cuda.profiler.start()
            call()
            torch.cuda.synchronize()
            torch.cuda.profiler.stop()
            elements = max(t.numel() for t in [*arguments, *outputs])
            print('counted ' + json.dumps([name, key, elements]), flush=True)
        del arguments, outputs, fn
        torch.cuda.empty_cache()


def lines(report, launched):
    """The table's lines, from ncu's raw page (CSV: names, units, then one line a kernel)."""
    rows = list(csv.reader(io.StringIO(report[report.index('"ID"'):])))
    names, units = rows[0], rows[1]

    def number(text):
        try:
            return float(text.replace(',', ''))
        except ValueError:
            return text
    for (name, policy, elements), row in zip(launched, rows[2:]):
        at = {key: number(value) for key, value in zip(names, row)}
        unit = dict(zip(names, units))
        line = f'{name:36}{policy:10}'
        for title, width, metric, factor in COUNTED:
            if metric is None:
                value = 100 * at['sm__cycles_active.avg'] / at['sm__cycles_elapsed.max']
            else:
                value = at[metric] * (factor or UNITS.get(unit[metric], 1))
            line += f'{value:{width}.1f}' if title not in ('regs', 'threads', 'blocks') else f'{value:{width}.0f}'
        line += f'{32 * at["smsp__inst_executed.sum"] / elements:7.1f}  '
        stalls = sorted(((at[key], STALL.match(key)[1]) for key in names if STALL.match(key) and isinstance(at[key], float)), reverse=True)
        yield line + ', '.join(f'{what} {value:.1f}' for value, what in stalls[:3])


def table(options):
    ncu = shutil.which('ncu')
    if not ncu:
        sys.exit('--counters needs Nsight Compute: there is no ncu in PATH')
    metrics = [metric for _, _, metric, _ in COUNTED if metric] + MORE
    with tempfile.TemporaryDirectory() as folder:
        log = os.path.join(folder, 'report.csv')
        done = subprocess.run([ncu, '--profile-from-start', 'off', '--clock-control', 'none', '--cache-control', 'all', '--csv', '--page', 'raw', '--log-file', log,
                               '--section', 'WarpStateStats', '--metrics', ','.join(metrics), sys.executable, os.path.abspath(__file__), options.library, options.filter,
                               options.policies or ''], stdout=subprocess.PIPE, text=True)
        report = open(log).read() if os.path.exists(log) else ''
    launched = [json.loads(line[len('counted '):]) for line in done.stdout.splitlines() if line.startswith('counted ')]
    if '"ID"' not in report or not launched:
        sys.exit(f'ncu counted nothing:\n{done.stdout[-2000:]}{report[-2000:]}')
    print(' ' * 46 + ''.join(f'{title:>{width}}' for title, width, _, _ in COUNTED) + '   inst  stalls, warps a cycle of issue')
    for line in lines(report, launched):
        print(line)


if __name__ == '__main__':
    launch_all(sys.argv[1], sys.argv[2], sys.argv[3])
