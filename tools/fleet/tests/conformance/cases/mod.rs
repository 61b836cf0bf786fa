//! The cases of the suite.

pub mod asks;
pub mod handles;
pub mod keys;
pub mod kill;
pub mod leases;
pub mod lists;
pub mod poison;
pub mod restart;
pub mod texts;
pub mod whole;

/// One test of each case, for a store.
macro_rules! suite {
    ($name:ident, $store:path) => {
        suite! {
            $name, $store:
            asks::a_question_needs_no_crab_and_is_answered_once
            asks::a_question_shows_what_was_pushed_and_holds_the_next_step
            asks::people_are_reminded_once_and_the_time_ends
            asks::a_reminder_is_recorded_once_by_two_handles
            asks::lists_find_what_asks
            handles::two_handles_drive_one_mission
            handles::a_key_is_used_once_by_two_handles_at_once
            handles::two_handles_make_one_colony_of_a_name
            handles::of_two_handles_that_sweep_at_once_one_does
            keys::the_same_key_twice_happens_once
            keys::the_same_event_with_another_key_is_repeated
            keys::another_event_with_the_same_key_is_a_conflict
            keys::a_refusal_is_remembered_and_changes_nothing
            keys::what_was_not_found_may_be_there_later
            keys::a_mission_is_made_once_for_a_key
            keys::a_branch_has_one_mission_of_a_colony
            kill::nothing_is_lost_when_the_process_is_killed
            kill::nothing_is_lost_at_any_point_of_a_call
            kill::an_answer_stands_once_at_any_point_of_its_call
            leases::a_silent_crab_loses_its_attempt
            leases::a_step_that_is_given_back_goes_to_another_crab
            leases::a_cancelled_mission_ends_its_agent
            leases::a_crab_gets_the_first_step_that_it_takes
            leases::a_step_with_a_need_waits_for_a_crab_that_is_able
            leases::a_lost_step_waits_again_with_the_others_of_its_mission
            leases::a_crab_speaks_only_for_what_it_has
            leases::a_role_has_one_crab
            leases::a_crab_that_comes_back_keeps_its_lease
            lists::pages_have_every_mission_once
            lists::filters_find_what_they_say
            lists::records_have_everything_in_order
            lists::what_ended_long_ago_is_forgotten
            lists::a_copy_is_a_store
            lists::a_copy_made_while_others_write_is_whole
            poison::a_mission_of_a_newer_version_is_set_aside
            poison::a_mission_that_is_damaged_stops_nothing_else
            restart::everything_is_there_after_a_restart
            restart::a_lease_outlives_a_restart_and_ends_by_sweeps
            restart::ids_and_records_rise_when_the_clock_goes_back
            texts::the_last_text_of_an_attempt_counts
            texts::an_attempt_that_is_not_there_keeps_nothing
            texts::texts_go_with_their_mission
            whole::a_mission_goes_through_fail_fix_and_pass
            whole::many_missions_come_to_their_ends
        }
    };
    ($name:ident, $store:path: $($module:ident :: $case:ident)*) => {
        mod $name {
            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $case() {
                    let folder = tempfile::tempdir().unwrap();
                    if !($store.prepare)(folder.path()) {
                        return crate::server::skip(concat!(stringify!($name), "::", stringify!($case)));
                    }
                    crate::cases::$module::$case($store, folder.path()).await;
                }
            )*
        }
    };
}
