"""What torch calls its things: the names under which one object can be imported, and the signatures of its calls.

Taken from the public documentation and the package of torch 2.13; older names that torch still answers to, or did
answer to, are included. Parameters after ``*`` are keyword-only.
"""

from __future__ import annotations

# From where an object can be imported too -> the name that the documentation uses.
_ALIASES = {
    "torch.nn.parallel.DataParallel": "torch.nn.DataParallel",
    "torch.nn.parallel.data_parallel.DataParallel": "torch.nn.DataParallel",
    "torch.nn.parallel.data_parallel.data_parallel": "torch.nn.parallel.data_parallel",
    "torch.nn.parallel.distributed.DistributedDataParallel": "torch.nn.parallel.DistributedDataParallel",
    "torch.nn.DistributedDataParallel": "torch.nn.parallel.DistributedDataParallel",
    "torch.nn.modules.batchnorm.SyncBatchNorm": "torch.nn.SyncBatchNorm",
    "torch.utils.data.dataloader.DataLoader": "torch.utils.data.DataLoader",
    "torch.utils.data.DistributedSampler": "torch.utils.data.distributed.DistributedSampler",
    "torch.utils.data.sampler.Sampler": "torch.utils.data.Sampler",
    "torch.utils.data.sampler.BatchSampler": "torch.utils.data.BatchSampler",
    "torch.utils.data.sampler.RandomSampler": "torch.utils.data.RandomSampler",
    "torch.utils.data.sampler.SequentialSampler": "torch.utils.data.SequentialSampler",
    "torch.utils.data.sampler.SubsetRandomSampler": "torch.utils.data.SubsetRandomSampler",
    "torch.utils.data.sampler.WeightedRandomSampler": "torch.utils.data.WeightedRandomSampler",
    "torch.utils.data.dataset.IterableDataset": "torch.utils.data.IterableDataset",
    "torch.utils.data.dataset.Dataset": "torch.utils.data.Dataset",
    "torch.utils.data.dataset.Subset": "torch.utils.data.Subset",
    "torch.utils.data.dataset.random_split": "torch.utils.data.random_split",
    "torch.cuda.amp.autocast_mode": "torch.cuda.amp",
    "torch.cuda.amp.grad_scaler": "torch.cuda.amp",
    "torch.cpu.amp.autocast_mode": "torch.cpu.amp",
    "torch.cpu.amp.grad_scaler": "torch.cpu.amp",
    "torch.amp.autocast_mode": "torch.amp",
    "torch.amp.grad_scaler": "torch.amp",
    "torch.autocast": "torch.amp.autocast",
    "torch.distributed.distributed_c10d": "torch.distributed",
    "torch.nn.utils.clip_grad": "torch.nn.utils",
    "torch.multiprocessing.spawn.spawn": "torch.multiprocessing.spawn",
}

_SIGNATURES = {
    "torch.nn.DataParallel": "module device_ids output_device dim",
    "torch.nn.parallel.data_parallel": "module inputs device_ids output_device dim module_kwargs",
    "torch.nn.parallel.DistributedDataParallel": (
        "module device_ids output_device dim broadcast_buffers init_sync process_group bucket_cap_mb "
        "find_unused_parameters check_reduction gradient_as_bucket_view static_graph delay_all_reduce_named_params "
        "param_to_hook_all_reduce mixed_precision device_mesh skip_all_reduce_unused_params bucket_cap_mb_list "
        "batched_grad_copy forward_sync_buffers"
    ),
    "torch.utils.data.DataLoader": (
        "dataset batch_size shuffle sampler batch_sampler num_workers collate_fn pin_memory drop_last timeout "
        "worker_init_fn multiprocessing_context generator * prefetch_factor persistent_workers pin_memory_device "
        "in_order"
    ),
    "torch.utils.data.Subset": "dataset indices",
    "torch.utils.data.random_split": "dataset lengths generator",
    "torch.utils.data.distributed.DistributedSampler": "dataset num_replicas rank shuffle seed drop_last",
    "torch.utils.data.BatchSampler": "sampler batch_size drop_last",
    "torch.utils.data.RandomSampler": "data_source replacement num_samples generator",
    "torch.utils.data.SequentialSampler": "data_source",
    "torch.utils.data.SubsetRandomSampler": "indices generator",
    "torch.utils.data.WeightedRandomSampler": "weights num_samples replacement generator",
    "torch.cuda.amp.autocast": "enabled dtype cache_enabled",
    "torch.cpu.amp.autocast": "enabled dtype cache_enabled",
    "torch.amp.autocast": "device_type dtype enabled cache_enabled",
    "torch.cuda.amp.GradScaler": "init_scale growth_factor backoff_factor growth_interval enabled",
    "torch.cpu.amp.GradScaler": "init_scale growth_factor backoff_factor growth_interval enabled",
    "torch.amp.GradScaler": "device init_scale growth_factor backoff_factor growth_interval enabled",
    "torch.cuda.amp.custom_fwd": "fwd * cast_inputs",
    "torch.cuda.amp.custom_bwd": "bwd",
    "torch.amp.custom_fwd": "fwd * device_type cast_inputs",
    "torch.amp.custom_bwd": "bwd * device_type",
    "torch.distributed.init_process_group": (
        "backend init_method timeout world_size rank store group_name pg_options device_id"
    ),
    "torch.distributed.all_gather": "tensor_list tensor group async_op",
    "torch.distributed.all_gather_into_tensor": "output_tensor input_tensor group async_op",
    "torch.distributed.all_gather_object": "object_list obj group",
    "torch.distributed.all_reduce": "tensor op group async_op",
    "torch.distributed.all_to_all": "output_tensor_list input_tensor_list group async_op",
    "torch.distributed.all_to_all_single": "output input output_split_sizes input_split_sizes group async_op",
    "torch.distributed.barrier": "group async_op device_ids timeout",
    "torch.distributed.broadcast": "tensor src group async_op group_src",
    "torch.distributed.broadcast_object_list": "object_list src group device group_src",
    "torch.distributed.gather": "tensor gather_list dst group async_op group_dst",
    "torch.distributed.gather_object": "obj object_gather_list dst group group_dst",
    "torch.distributed.monitored_barrier": "group timeout wait_all_ranks",
    "torch.distributed.reduce": "tensor dst op group async_op group_dst",
    "torch.distributed.reduce_scatter": "output input_list op group async_op",
    "torch.distributed.reduce_scatter_tensor": "output input op group async_op",
    "torch.distributed.scatter": "tensor scatter_list src group async_op group_src",
    "torch.distributed.scatter_object_list": (
        "scatter_object_output_list scatter_object_input_list src group group_src"
    ),
    "torch.distributed.new_group": (
        "ranks timeout backend pg_options use_local_synchronization group_desc device_id sort_ranks"
    ),
    "torch.save": "obj f pickle_module pickle_protocol",
    "torch.load": "f map_location pickle_module * weights_only mmap",
    "torch.distributed.TCPStore": "host_name port world_size is_master timeout wait_for_workers multi_tenant",
    "torch.multiprocessing.spawn": "fn args nprocs join daemon start_method",
    "torch.optim.SGD": "params lr momentum dampening weight_decay nesterov * maximize foreach differentiable fused",
    "torch.optim.Adam": (
        "params lr betas eps weight_decay amsgrad * foreach maximize capturable differentiable fused "
        "decoupled_weight_decay"
    ),
    "torch.optim.AdamW": "params lr betas eps weight_decay amsgrad * maximize foreach capturable differentiable fused",
    "torch.optim.Adagrad": (
        "params lr lr_decay weight_decay initial_accumulator_value eps foreach * maximize differentiable fused"
    ),
    "torch.optim.Adamax": "params lr betas eps weight_decay foreach * maximize differentiable capturable",
    "torch.optim.RMSprop": (
        "params lr alpha eps weight_decay momentum centered capturable foreach maximize differentiable"
    ),
    "torch.optim.NAdam": (
        "params lr betas eps weight_decay momentum_decay decoupled_weight_decay "
        "* foreach maximize capturable differentiable"
    ),
    "torch.optim.RAdam": (
        "params lr betas eps weight_decay decoupled_weight_decay * foreach maximize capturable differentiable"
    ),
    "torch.optim.Adadelta": "params lr rho eps weight_decay foreach * capturable maximize differentiable",
    "torch.optim.Rprop": "params lr etas step_sizes * capturable foreach maximize differentiable",
    "torch.optim.ASGD": "params lr lambd alpha t0 weight_decay foreach maximize differentiable capturable",
    "torch.optim.LBFGS": "params lr max_iter max_eval tolerance_grad tolerance_change history_size line_search_fn",
}


def canonical(name: str) -> str:
    """Return the documented name of what can be imported under ``name``; unknown names come back as they are."""
    if name in _ALIASES:
        return canonical(_ALIASES[name])
    head, dot, tail = name.rpartition(".")
    if not dot:
        return name
    known = canonical(head)
    return name if known == head else canonical(f"{known}.{tail}")


def signature(name: str) -> tuple[str, ...] | None:
    """Return the positional parameters, in order, of a callable by its documented name; None where not known."""
    text = _SIGNATURES.get(name)
    return None if text is None else tuple(text.split(" * ")[0].split())


def parameters(name: str) -> tuple[str, ...]:
    """Return all parameters of a callable by its documented name, the keyword-only ones last."""
    return tuple(word for word in _SIGNATURES.get(name, "").split() if word != "*")


def signed() -> tuple[str, ...]:
    """Return the names of all callables whose signature is known."""
    return tuple(_SIGNATURES)
