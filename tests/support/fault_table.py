"""Which tests hold each of the faults that running, rehearsing, committing and undoing must survive: as root and as an ordinary user.

Names are `file below tests/ :: function`; test_execution_faults.py checks that each is there. Where a fault cannot befall both (only
root mounts), the tests skip, or name who it is.
"""

from __future__ import annotations

_STOPPING = "unit/execution/test_stopping_faults.py::test_nothing_survives"
_IN_REHEARSAL = "scenarios/test_rehearsal_ends.py::test_a_time_out_leaves_nothing"
_STREAMS = "scenarios/test_execution_faults.py::"
_TERMINAL = "scenarios/test_terminal_faults.py::"
_LEAKS = "scenarios/test_rehearsal_leaks.py::"
_ESCAPES = "scenarios/test_rehearsal_escapes.py::"
_COMMIT = "scenarios/test_commit_faults.py::"
_READER = "unit/execution/overlay/test_reader_cases.py::"
_JOURNAL = "unit/execution/journal/"
_DEGRADED = "unit/execution/confine/test_degradation.py::"
_ROUND_TRIP = _COMMIT + "test_made_real_is_what_a_plain_run_leaves_and_taken_back_is_what_was"

FAULTS: dict[str, tuple[str, ...]] = {
    "1 background and foreground, then a time-out": (_STOPPING, _IN_REHEARSAL),
    "2 ignores INT and TERM": (_STOPPING, _IN_REHEARSAL),
    "3 a session of its own": (_STOPPING, _IN_REHEARSAL),
    "4 forked twice": (_STOPPING, _IN_REHEARSAL),
    "5 job control": (_STOPPING, _IN_REHEARSAL),
    "6 a stopped child": (_STOPPING, _IN_REHEARSAL),
    "7 forks while it is killed": (_STOPPING, _IN_REHEARSAL),
    "8 disowned, holding the output": (
        _STOPPING,
        "unit/execution/test_stopping.py::test_a_background_job_left_on_purpose_lives_on_and_holds_nobody_up",
        "scenarios/test_jobs_left_alone.py::test_an_ordinary_user_has_jobs_too",
    ),
    "9 the program is killed": (
        _STOPPING,
        "scenarios/test_signal_stages.py::test_killed_at_a_terminal",
        "scenarios/test_rehearsal_ends.py::test_a_killed_program_takes_the_rehearsal_with_it_and_the_next_one_sweeps",
    ),
    "10 500 MB of output": (_STREAMS + "test_a_flood_in_bounded_memory",),
    "11 a line of 100 MB": (
        _STREAMS + "test_a_line_without_an_end",
        "unit/emitters/test_terminal_filter.py::test_long_lines_are_cut_on_the_screen",
    ),
    "12 torn characters, NULs": (_STREAMS + "test_characters_torn_between_writes_and_no_characters",),
    "13 clipboard, title, alternate screen": (
        _TERMINAL + "test_escapes_past_the_pipes_do_not_arrive",
        _TERMINAL + "test_what_a_program_that_owned_the_terminal_left_on_is_switched_off",
        "unit/emitters/test_terminal_filter.py::test_nothing_but_text_and_colours_ever_passes",
    ),
    "14 output closed early": (_STREAMS + "test_streams_closed_early",),
    "15 a flood of errors beside output": (_STREAMS + "test_a_flood_of_errors_beside_output",),
    "16 reads its input": (_STREAMS + "test_input_is_empty", _TERMINAL + "test_a_command_that_waits_is_told_and_answered"),
    "17 Ctrl-C twice in vim and less": (
        _TERMINAL + "test_ctrl_c_twice_belongs_to_the_program",
        _TERMINAL + "test_ctrl_c_again_and_again_ends_what_does_not_listen",
    ),
    "18 another window size": (_TERMINAL + "test_sizes_follow", "scenarios/test_rehearsal_terminal.py::test_it_has_a_terminal_of_its_size"),
    "19 raw mode left behind": (_TERMINAL + "test_what_a_program_that_owned_the_terminal_left_on_is_switched_off",),
    "20 exit, exec, kill -9 $$": (
        _STREAMS + "test_exit_keeps_the_state",
        _STREAMS + "test_state_that_cannot_be_read_is_said_and_the_old_one_stays",
    ),
    "21 an EXIT trap of its own": (_STREAMS + "test_a_trap_of_its_own_runs",),
    "22 closes every descriptor": (_STREAMS + "test_closing_every_descriptor_loses_no_state",),
    "23 its folder is deleted": (_STREAMS + "test_a_folder_deleted_under_it",),
    "24 hostile and too long values": (
        _STREAMS + "test_hostile_values_arrive_unchanged",
        _STREAMS + "test_an_environment_that_is_too_long_for_the_system",
        _LEAKS + "test_an_environment_that_is_too_long",
    ),
    "25 syntax error, set -e, set -u": (_STREAMS + "test_syntax_errors_and_strict_options_end_only_their_own_command",),
    "26 our internals": (_STREAMS + "test_our_internals_are_invisible", _LEAKS + "test_no_descriptor_and_no_variable_of_ours"),
    "27 shows all, changes nothing": (_LEAKS + "test_it_shows_everything_and_changes_nothing",),
    "28 folders made anew, other types": (_ROUND_TRIP, _LEAKS + "test_types_and_special_files", _READER + "test_steps"),
    "29 hard links, renamed folders": (
        _ROUND_TRIP,
        _READER + "test_renames_and_names_of_one_file_as_root",
        _READER + "test_what_an_ordinary_user_moves_is_recognised_by_all_that_it_is",
        _READER + "test_a_file_with_several_names_is_said_not_to_be_shown_whole",
    ),
    "30 attributes, ACLs, holes, pipes, sockets": (
        _ROUND_TRIP,
        _READER + "test_an_attribute_an_acl_and_a_capability_are_changes",
        "scenarios/test_rehearsal_ends.py::test_a_large_sparse_file_is_not_large",
    ),
    "31 odd names": (_ROUND_TRIP, _LEAKS + "test_names_of_every_kind"),
    "32 mounts below, shared memory, bind mounts": (
        _LEAKS + "test_shared_memory_and_temporary_folders_do_not_leak",
        _LEAKS + "test_root_sees_bind_mounts_and_other_file_systems",
        "scenarios/test_rehearsal_mounts.py::test_an_ordinary_users_home_with_a_mount_below_it",
        _JOURNAL + "test_journal_file_systems.py::test_in_a_mount_namespace",
    ),
    "33 a command that tries to leave": (
        _ESCAPES + "test_process_1_shows_nothing_of_its_own",
        _ESCAPES + "test_only_its_own_processes_are_there_and_none_can_be_traced",
        _ESCAPES + "test_nothing_can_be_mounted_or_unmounted",
        _ESCAPES + "test_a_user_namespace_inside_cannot_undo_the_mounts",
        _ESCAPES + "test_agents_and_services_do_not_answer",
        "unit/execution/confine/test_confined_runs.py::test_there_is_no_way_out",
    ),
    "34 full disks": (
        _COMMIT + "test_a_rehearsal_that_fills_the_disk_is_ended",
        _COMMIT + "test_a_full_disk_stops_commit_and_undo_before_anything_is_lost",
        _JOURNAL + "test_journal_file_systems.py::test_in_a_mount_namespace",
    ),
    "35 killed at every step of commit and undo": (
        _COMMIT + "test_killed_after_each_thing_that_commit_and_undo_do",
        _JOURNAL + "test_journal_crashes.py::test_killed_while_committing",
        _JOURNAL + "test_journal_crashes.py::test_killed_while_undoing",
        _JOURNAL + "test_journal_crashes.py::test_killed_while_resuming",
    ),
    "36 changed between rehearsal and commit": (
        _LEAKS + "test_what_changed_meanwhile_is_not_overwritten",
        _JOURNAL + "test_journal.py::test_what_changed_since_the_rehearsal_stops_the_commit",
    ),
    "37 a tree of 100,000 files": (_COMMIT + "test_nine_of_100_000_files",),
    "38 files of other users": (
        _COMMIT + "test_files_of_other_users",
        _LEAKS + "test_what_belongs_to_others_is_not_theirs_to_remove",
    ),
    "39 two at once": (
        _LEAKS + "test_two_at_once",
        _COMMIT + "test_of_two_rehearsals_of_one_file_the_second_is_not_made_real",
        _JOURNAL + "test_journal.py::test_two_processes_take_turns",
    ),
    "40 undo of undo": (
        _ROUND_TRIP,
        "scenarios/test_rehearse_cli.py::test_made_real_and_taken_back_to_the_byte",
        _JOURNAL + "test_journal_random.py::test_commit_undo_and_undo_of_undo",
    ),
    "unshare forbidden": (
        "scenarios/test_rehearsal_ends.py::test_where_the_kernel_forbids_it_that_is_said",
        _DEGRADED + "test_without_namespaces_landlock_takes_over_and_says_what_it_misses",
    ),
    "no overlay": (_COMMIT + "test_without_an_overlay_file_system_that_is_said_and_nothing_runs",),
    "no Landlock": (
        _DEGRADED + "test_without_namespaces_and_landlock_nothing_runs",
        "unit/execution/confine/test_confined_runs.py::test_namespaces_hold_without_landlock",
    ),
    "no files in memory": (
        _STREAMS + "test_without_files_in_memory_state_is_kept_in_private_ones_that_are_gone_at_once",
    ),
    "no control group, no sub-reaper": (_STOPPING, "unit/execution/test_jobs.py::test_jobs_are_known_and_ended_on_every_rung"),
}  # fmt: skip
