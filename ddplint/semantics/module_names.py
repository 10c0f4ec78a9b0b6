"""The public names that torch's modules and its wrappers around modules answer to: torch 2.13 and before."""

from __future__ import annotations

_MODULE = (
    "add_module apply bfloat16 buffers call_super_init children compile cpu cuda double dump_patches eval "
    "extra_repr float forward get_buffer get_extra_state get_parameter get_submodule half ipu load_state_dict modules "
    "mtia named_buffers named_children named_modules named_parameters parameters register_backward_hook "
    "register_buffer register_forward_hook register_forward_pre_hook register_full_backward_hook "
    "register_full_backward_pre_hook register_load_state_dict_post_hook register_load_state_dict_pre_hook "
    "register_module register_parameter register_state_dict_post_hook register_state_dict_pre_hook requires_grad_ "
    "set_extra_state set_submodule share_memory state_dict to to_empty train training type xpu zero_grad"
)
_WRAPPERS = {
    "DistributedDataParallel": (
        "allreduce_bucket batched_grad_copy broadcast_bucket_size broadcast_buffers bucket_bytes_cap "
        "bucket_bytes_cap_default bucket_bytes_cap_list buffer_hook check_reduction ddp_join_enabled "
        "ddp_join_throw_on_early_termination ddp_uneven_inputs_config device device_ids device_mesh device_type dim "
        "find_unused_parameters forward_sync_buffers gather gradient_as_bucket_view is_multi_device_module join "
        "join_device join_hook join_process_group logger mixed_precision module modules_buffers modules_params "
        "named_module_buffers no_sync output_device parallel_apply parameters_to_ignore process_group reducer "
        "register_comm_hook require_backward_grad_sync require_forward_param_sync scatter "
        "skip_all_reduce_unused_params static_graph to_kwargs use_side_stream_for_tensor_copies "
        "will_sync_module_buffers"
    ),
    "DataParallel": "device_ids dim gather module output_device parallel_apply replicate scatter src_device_obj",
}
_KNOWN = {wrapper: frozenset(f"{_MODULE} {own}".split()) for wrapper, own in _WRAPPERS.items()}


def answers_to(wrapper: str, name: str) -> bool:
    """Whether DistributedDataParallel or DataParallel has an attribute of its own; private names count as its own."""
    return name.startswith("_") or name in _KNOWN[wrapper]
