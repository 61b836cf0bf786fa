//! The files that commands open in a home with many tasks of which few are under way.

use clap::Parser;

use super::{list, show};
use crate::app::App;
use crate::cmd::args::{Cli, Command, CommandGroup, ListArgs, TaskCommand};
use crate::doctor;
use crate::flow::tests::MACHINES;
use crate::machines::Machines;
use crate::store::index::tests::{copy, grow_old};
use crate::store::tests::{draft, home, task};
use crate::store::{Event, LockedWorkItem, Owned, Set, WorkItemDir, WorkItemKind, create_among, find};
use orange_system::nofollow::opened;

const FEW: usize = 50;
const MANY: usize = 1000;

/// A home with so many tasks, and what they are.
struct SizedHome {
    _folder: tempfile::TempDir,
    app: App,
    over: WorkItemDir,
}

impl SizedHome {
    fn with(tasks: usize) -> SizedHome {
        const UNDER_WAY: usize = 10;
        let (folder, home) = home();
        let of_status = |branch: &str, status: &str| {
            let mut locked = task(&home, branch);
            locked.append(Event::Unknown, Set::new().workflow("test", "").status(status)).unwrap();
            locked.dir().clone()
        };
        let (over, waits) = (of_status("fix-0", "done"), of_status("wait-0", "pending"));
        (1..UNDER_WAY).for_each(|number| copy(&home, &waits, number));
        (UNDER_WAY..tasks).for_each(|number| copy(&home, &over, number));
        grow_old(&home);
        let app = App::for_tests(Machines::only(MACHINES), home, folder.path());
        let made = SizedHome { _folder: folder, app, over };
        // The first commands write the indexes.
        made.all();
        made
    }

    /// Number of files that each command opens, and of those that it looks at without opening them.
    fn all(&self) -> Vec<(&'static str, [usize; 2])> {
        let SizedHome { app, over, .. } = self;
        let by_branch = || {
            find::named(&app.home, WorkItemKind::Task, "fix-20", None, &|kind, owned| app.is_end(kind, owned))
                .unwrap()
        };
        let count = |what, work: &dyn Fn()| {
            let opened = std::cell::Cell::new(0);
            let looks = opened::looks_during(app.home.root(), || {
                opened.set(opened::during(app.home.root(), work).0);
            });
            (what, [opened.get(), looks])
        };
        vec![
            count("task list", &|| drop(list::run(app, &listing(&[]), true).unwrap())),
            count("task list, for people", &|| drop(list::run(app, &listing(&[]), false).unwrap())),
            count("task list --all", &|| drop(list::run(app, &listing(&["--all"]), true).unwrap())),
            count("task show ID", &|| drop(show::run(app, over, false).unwrap())),
            count("task show BRANCH", &|| drop(show::run(app, &by_branch(), false).unwrap())),
            count("task update BRANCH", &|| drop(LockedWorkItem::lock(&app.home, &by_branch()).unwrap())),
            count("task create", &|| {
                let is_done = |kind, owned: &Owned| app.is_done(kind, owned);
                let new = create_among(&app.home, &draft("new"), &is_done, |_| Ok(())).unwrap();
                let path = new.dir().path.clone();
                drop(new);
                std::fs::remove_dir_all(path).unwrap();
            }),
        ]
    }
}

fn listing(words: &[&str]) -> ListArgs {
    let cli = Cli::try_parse_from([&["orange", "task", "list"], words].concat()).unwrap();
    match cli.command {
        Some(Command::Task(CommandGroup(TaskCommand::List(args)))) => args,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_command_opens_as_much_among_many_tasks_as_among_few() {
    let (few, many) = (SizedHome::with(FEW), SizedHome::with(MANY));
    for ((what, few), (_, many)) in few.all().into_iter().zip(many.all()) {
        let [few_looks, looks] = [few[1], many[1]];
        let [few, many] = [few[0], many[0]];
        assert!(many <= few + 2, "{what}: {few} files of {FEW} tasks are opened, and {many} of {MANY}");
        // What shows all tasks looks at the text of each.
        let is_of_all = what.ends_with("--all");
        assert!(looks <= few_looks + 2 || is_of_all, "{what}: {few_looks} and {looks} files are looked at");
    }
}

#[test]
fn a_list_of_finished_tasks_is_the_same_without_indexes() {
    let home = SizedHome::with(FEW);
    let app = &home.app;
    // The rows have ages, so both lists are of one moment.
    let now = std::time::SystemTime::now();
    let all = |as_json: bool| list::run_at(app, &listing(&["--all"]), as_json, now).unwrap().text;
    for as_json in [true, false] {
        let indexed = all(as_json);
        std::fs::read_dir(home.over.path.parent().unwrap()).unwrap().flatten().for_each(|entry| {
            if entry.file_name().to_string_lossy().ends_with(".index") {
                std::fs::remove_file(entry.path()).unwrap();
            }
        });
        assert_eq!(all(as_json), indexed);
    }
}

#[test]
fn the_doctor_opens_no_finished_task_that_it_has_examined() {
    let home = SizedHome::with(MANY);
    let fine = home.app.home.task("coffee", &format!("{}000030", &home.over.id[..15]));
    let opened = || opened::during(&fine.path, || drop(doctor::examine(&home.app))).0;
    let first = opened();
    let looks = || opened::looks_during(&fine.path, || drop(doctor::examine(&home.app)));
    assert_eq!((first > 0, opened(), looks()), (true, 0, 3));
    // Whatever changes in its folder, it is examined again.
    std::fs::write(fine.path.join("note"), "").unwrap();
    assert!(opened() > 0);
}
