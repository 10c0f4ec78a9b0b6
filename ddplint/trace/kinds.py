"""The kinds of events, and the fields of each: the contract between the probe that writes and the trace that reads.

A process writes one file of JSON lines. The first line says who it is::

    {"schema": 1, "pid": 7, "parent": 3, "started": 171.5, "role": "rank", "rank": 0, "local_rank": 0,
     "world_size": 2, "argv": ["train.py"], "python": "3.11.2", "host": "box"}

``role``: rank, worker (of a data loader), launcher (torchrun and the like), helper (of multiprocessing). ``rank`` and
the like are None where the environment does not say; a later ``group`` event does. Each further line is one event::

    {"t": 171.9, "kind": "backward", "at": ["/project/train.py", 41],
     "stack": [["/project/train.py", 41, "train"], ...], "call": 12, "loss": 0.7}

``at`` is the innermost frame of the user's project, None where there is none; ``stack`` holds the user's frames from
the innermost out. ``t`` is in seconds since 1970. The other fields follow from the kind.
"""

from __future__ import annotations

from enum import Enum

SCHEMA = 1


class Kind(str, Enum):
    """What happened; the comment names the fields of the event."""

    # The process
    ROLE = "role"  # role: the process turned out to be this
    TORCH = "torch"  # version, cuda (devices), stand_in (whether calls for CUDA go to the CPU)
    ERROR = "error"  # error (type), text: an exception that ends the process; at and stack are where it was raised
    EXIT = "exit"  # the interpreter ends by itself
    STOP = "stop"  # reason: enough was seen; nothing of the process after this is the script's doing
    HOOK_FAILED = "hook_failed"  # hook, error, count: evidence of this hook may be missing
    LINE = (
        "line"  # count: a line that a finding speaks of was reached so often by now (exact at 1, 2, 4, 8 ... and exit)
    )

    # Groups and collectives. Numbers of calls count up within a process.
    GROUP = (
        "group"  # backend, asked (the backend that was asked for), world_size, rank, timeout (seconds), init_method,
    )
    #                  environment (variables of torch, CUDA, NCCL, OpenMP and the meeting point by then)
    GROUP_END = "group_end"  # destroy_process_group is done
    SUBGROUP = "subgroup"  # ranks (None: all), backend: new_group is called
    COLLECTIVE = "collective"  # call, op, group (name), ranks (of a subgroup, else None), sequence, elements, dtype,
    #                            device, reduce, root, asynchronous: entered
    COLLECTIVE_DONE = "collective_done"  # of (call), op, error (text or None): left; asynchronous work may still go on
    WAIT = "wait"  # of (call): Work.wait() of an asynchronous collective

    # Models
    DDP = "ddp"  # model, module (class), parameters, elements, batch_norms ({class: count}), buffers,
    #              find_unused_parameters, broadcast_buffers, static_graph, device_ids, devices
    DP = "dp"  # model, module (class), device_ids
    FORWARD = "forward"  # call, model, module (class), wrapper ("ddp", "dp", None), past (the wrapper that was left
    #                      out, or None), training, grad, elements and batch of the first tensor, device
    FORWARD_DONE = "forward_done"  # of (call)
    NO_SYNC = "no_sync"  # model
    BACKWARD = "backward"  # call, loss (number or None)
    BACKWARD_DONE = "backward_done"  # of (call)

    # Optimisation
    OPTIMIZER = "optimizer"  # optimizer, cls, rates, parameters
    STEP = "step"  # optimizer, cls, number, rates, checksum, without_gradient, parameters, sequence (collectives of the
    #                default group so far, DDP's own included; None where torch does not tell)
    ZERO_GRAD = "zero_grad"  # optimizer (None: of a module)
    SCHEDULER_STEP = "scheduler_step"  # cls, initial (made by the constructor)
    SCALER = (
        "scaler"  # do (scale, unscale, step, update), enabled, scale, inner (called by another method of the scaler)
    )
    CLIP = "clip"  # do (norm, value), limit, norm (before)

    # Data
    SAMPLER = "sampler"  # sampler, cls: a sampler of any class is made
    LOADER = "loader"  # loader, length, batch_size, sampler, batch_sampler, cls (of the sampler), shuffle, replicas,
    #                    rank, drop_last, seed, workers, pin_memory, dataset (class), samples (of the dataset), share
    #                    (samples of one pass), iterable
    PASS = "pass"  # loader, number: a loop over a loader begins
    PASS_END = "pass_end"  # loader, number, batches, steps (of optimizers in the meantime), cut (by us), count (of
    #                        indices), first (64 of them), digest; the last three are None for iterable datasets
    BATCH = "batch"  # loader, pass_number, number, wait (seconds), size, digest, pinned, device
    SAMPLER_PASS = (
        "sampler_pass"  # sampler, cls, epoch, seed, replicas, rank, shuffle, samples (of its dataset), count,
    )
    #                                first (64), digest: the whole order of a DistributedSampler
    SET_EPOCH = "set_epoch"  # sampler, epoch
    WORKER = "worker"  # worker (of a data loader), seed (of torch), python, numpy (digests of the states of their
    #                    random generators after worker_init_fn; None without numpy)

    # Output
    PRINT = "print"  # text, to (stdout, stderr, file)
    LOG = "log"  # text, level, logger, shown (whether a handler wrote to the console)
    BAR = "bar"  # text, disabled: a progress bar of tqdm is made
    WARNING = "warning"  # text, category
    SAVE = "save"  # path, what (torch), diverted (into the folder of the run), keys (up to 16 of a dict and of the
    #                dicts in it)
    LOAD = "load"  # path, map_location
    WRITE = "write"  # path, what (open, mkdir, remove, rename), diverted
    TRACKER = "tracker"  # what (SummaryWriter, wandb.init, mlflow.start_run ...), path (None where there is none)

    # Devices and randomness
    SEED = "seed"  # what (torch, numpy, python), seed
    SYNC = "sync"  # what (item, cpu, synchronize, empty_cache)
    DEVICE = "device"  # what (set_device; with the stand-in also to, cuda), device: as it was asked for
