//! Transcripts of agents: kept when they end, also by a command, and shown afterwards.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::answers;
use crate::following::{begin, lines};
use crate::recorder;
use crate::task::{Task, end, is_alive, kill};
use crate::world::{World, text, write_program};

fn kept(task: &Task<'_>) -> Vec<String> {
    let folder = fs::read_dir(task.folder().join("transcripts")).into_iter().flatten().flatten();
    let mut names: Vec<_> = folder.map(|entry| entry.file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn what_a_pane_has_shown_is_kept_and_shown() {
    let world = World::new();
    let task = world.create("fix", "Mend it [agents: limited]", &[]);
    task.has_events(1, "agent.exited");
    assert_eq!(task.events_of("agent.exited")[0]["transcript"], "1.pane.gz");
    assert_eq!(kept(&task)[0], "1.pane.gz");
    let logs = task.ok("logs", &["--spawn", "1"]);
    assert_eq!(
        (&logs["form"], &logs["alive"], &logs["actor"]),
        (&json!("pane"), &json!(false), &json!("worker"))
    );
    assert!(logs["text"].as_str().unwrap().starts_with("API Error: Rate\nlimit reached\n"), "{logs}");
    let raw = world.orange(&["task", "logs", &task.id, "--spawn", "1", "--raw"]);
    assert!(raw.out.starts_with("\u{1b}[31mAPI Error: Rate\r\n"), "{raw:?}");
    let people = world.orange(&["task", "logs", &task.id, "--spawn", "1"]);
    assert!(people.out.contains("agent 1 (worker, claude, conversation "), "{people:?}");
    assert!(people.out.contains("\nlimit reached\n") && !people.out.contains('\u{1b}'), "{people:?}");
}

#[test]
fn how_much_is_kept_is_set_for_each_project() {
    let world = World::new();
    assert_eq!(world.ok(&["project", "list"])[0]["transcripts_mb"], 20);
    world.ok(&["project", "update", "toy", "--transcripts-mb", "5"]);
    assert_eq!(world.ok(&["project", "list"])[0]["transcripts_mb"], 5);
}

#[test]
fn a_killed_wrapper_loses_nothing_that_was_shown() {
    let world = World::new();
    let task = world.create("fix", "Mend it [agents: scripted]", &[]);
    let agent = task.agent(1);
    let pid = agent.begun();
    agent.tell("echo the last words; touch \"$notes.spoken\"; exec sleep 1000000");
    let pane = task.folder().join("transcripts/1.pane");
    world.until("it is recorded", || {
        fs::read_to_string(&pane).is_ok_and(|text| text.contains("the last words"))
    });
    kill(world.wrapper("toy/fix"));
    end(pid);
    world.until("the monitor sees it", || {
        world.ok(&["monitor", "--once"]);
        !task.events_of("agent.exited").is_empty()
    });
    assert_eq!(kept(&task), ["1.pane.gz"]);
    assert!(task.ok("logs", &[])["text"].as_str().unwrap().contains("the last words"));
}

#[test]
fn what_an_agent_shows_before_it_is_recorded_is_kept() {
    let world = World::new();
    let (tmux, go) = (world.find("tmux"), world.path("go"));
    // `tmux -u -S SOCKET pipe-pane -t PANE COMMAND`
    let script = format!(
        "#!/bin/sh\n[ \"$4\" = pipe-pane ] || exec '{tmux}' \"$@\"\n\
         exec '{tmux}' \"$1\" \"$2\" \"$3\" \"$4\" \"$5\" \"$6\" \"until [ -e '{go}' ]; do sleep 0.5; done; $7\"\n",
        tmux = tmux.display(),
        go = go.display(),
    );
    write_program(&world.path("agents/tmux"), &script);
    let task = world.create("fix", "Mend it [agents: scripted]", &[]);
    let agent = task.agent(1);
    let pid = agent.begun();
    agent.tell("echo the last words; exit 3");
    world.until("the agent has ended", || !is_alive(pid));
    fs::write(go, "").unwrap();
    task.has_events(1, "agent.exited");
    assert_eq!(task.events_of("agent.exited")[0]["transcript"], "1.pane.gz");
    assert!(task.ok("logs", &[])["text"].as_str().unwrap().contains("the last words"));
}

#[test]
fn who_records_a_pane_is_no_part_of_its_agent() {
    let world = World::new();
    let task = world.create("fix", "Mend it [agents: scripted]", &[]);
    let agent = task.agent(1);
    let pid = agent.begun();
    world.until("it is recorded", || recorder::of(&task.folder()).len() == 1);
    // An agent that nobody records any more works all the same.
    kill(recorder::of(&task.folder())[0]);
    world.until("nobody records it", || recorder::of(&task.folder()).is_empty());
    assert!(is_alive(pid));
    agent.tell("exit 3");
    task.has_events(1, "agent.crashed");
    assert_eq!(task.events_of("agent.exited")[0]["code"], 3);
    // The second one is ended by somebody else, recorder and all.
    task.ok("respawn", &[]);
    task.agent(2).begun();
    world.until("the second one is recorded", || recorder::of(&task.folder()).len() == 1);
    task.ok("cancel", &["--yes"]);
    world.until("nobody is left", || recorder::of(&task.folder()).is_empty());
}

#[test]
fn the_end_of_the_server_ends_its_recorders() {
    let world = World::new();
    let task = world.create("fix", "Mend it [agents: hang]", &[]);
    task.agent(1).begun();
    world.until("it is recorded", || recorder::of(&task.folder()).len() == 1);
    let server = text(&world.tmux(&["display-message", "-p", "#{pid}"]).stdout).trim().parse().unwrap();
    kill(server);
    world.until("nobody is left", || recorder::of(&task.folder()).is_empty());
}

#[test]
fn a_person_who_pipes_a_pane_is_left_alone() {
    let world = World::new();
    let piped = world.path("mine");
    let conf = format!("set-hook -g after-new-session 'pipe-pane \"cat >> {}\"'\n", piped.display());
    fs::write(world.path("home/.tmux.conf"), conf).unwrap();
    let task = world.create("fix", "Mend it [agents: scripted]", &[]);
    let agent = task.agent(1);
    agent.begun();
    agent.tell("echo to the person; exit 3");
    task.has_events(1, "agent.crashed");
    let is_there = || fs::read_to_string(&piped).is_ok_and(|text| text.contains("to the person"));
    world.until("the person has it", is_there);
    assert_eq!(kept(&task), Vec::<String>::new());
    assert!(task.fails(3, "not_found", "logs", &[]).contains("there is no transcript of agent 1"));
}

#[test]
fn transcripts_stay_with_the_task_to_its_end_and_after_it() {
    let world = World::new();
    let task = world.create("fix", "Mend it [agents: limited]", &[]);
    task.has_events(1, "agent.exited");
    task.ok("cancel", &["--yes"]);
    assert!(task.ok("logs", &["--spawn", "1"])["text"].as_str().unwrap().contains("limit reached"));
    task.ok("delete", &["--yes"]);
    task.fails(3, "not_found", "logs", &[]);
    let trash = world.home().join("trash/toy").join(&task.id).join("transcripts/1.pane.gz");
    assert!(trash.is_file());
    task.ok("restore", &[]);
    task.ok("logs", &["--spawn", "1"]);
}

#[test]
fn a_living_agent_is_followed_to_its_end() {
    let world = World::new();
    let task = world.create("fix", "Mend it [agents: scripted]", &[]);
    let agent = task.agent(1);
    agent.begun();
    let follow = |file: &str, more: &[&str]| {
        let mut command = world.command(world.program);
        command.args(["task", "logs", &task.id, "--follow"]).args(more).current_dir(world.repo());
        command.stdout(fs::File::create(world.path(file)).unwrap()).spawn().unwrap()
    };
    let mut follows = [follow("text", &[]), follow("lines", &["--json"])];
    agent.tell("echo one; until [ -e \"$notes.go\" ]; do sleep 0.05; done; echo two; exit 3");
    let followed = || ["text", "lines"].map(|file| fs::read_to_string(world.path(file)).unwrap());
    world.until("the first line is shown", || followed().iter().all(|text| text.contains("one")));
    assert!(!followed().iter().any(|text| text.contains("two")));
    fs::write(world.home().join("agents").join(format!("{}.1.go", task.id)), "").unwrap();
    task.has_events(1, "agent.exited");
    assert!(follows.iter_mut().all(|follow| follow.wait().unwrap().success()));
    let [text, lines] = followed();
    assert!(text.contains("two") && lines.contains("two"), "{text}\n{lines}");
    for line in lines.lines() {
        answers::check(&["task", "logs"], &serde_json::from_str(line).unwrap());
    }
}

/// A harness that keeps a file of each conversation, as real ones do, and says how it was called.
const TALKER: &str = r#"#!/bin/sh
mkdir -p "$HOME/talks"
printf '%s\n' "$*" >>"$ORANGE_HOME/calls"
case $1 in
  --continue)
    [ -e "$HOME/refuse" ] && echo "No such talk: $2" && exit 1
    id=$2 && shift 2 ;;
  *)
    id=talk-$ORANGE_TASK-$ORANGE_SPAWN
    printf '{"cwd":"%s"}\n' "$PWD" >"$HOME/talks/$id.jsonl" ;;
esac
printf '{"type":"user","message":{"role":"user","content":"%s"}}\n' "Read the file $1." >>"$HOME/talks/$id.jsonl"
echo "on the screen"
until [ -e "$HOME/end" ]; do sleep 0.05; done
rm "$HOME/end"
printf '{"type":"assistant","message":{"role":"assistant","content":"Bye."}}\n' >>"$HOME/talks/$id.jsonl"
exit 3
"#;

const HARNESS: &str = "[talker]\nbinary = 'talker'\nfull = ['{prompt_file}']\nreduced = ['{prompt_file}']\n\
    resume = ['--continue', '{session}']\nresume_errors = ['No such talk']\n\
    transcripts = ['~/talks/{session}.jsonl']\n";

struct TranscriptTalk<'w> {
    world: &'w World,
    task: Task<'w>,
}

fn talking_world() -> World {
    let world = World::new();
    fs::write(world.home().join("harnesses.toml"), HARNESS).unwrap();
    write_program(&world.path("agents/talker"), TALKER);
    world
}

impl<'w> TranscriptTalk<'w> {
    fn begin(world: &'w World) -> TranscriptTalk<'w> {
        TranscriptTalk::of(world, world.create("fix", "Mend it", &["--harness", "talker"]))
    }

    /// Waits until the first agent of this task or mission talks.
    fn of(world: &'w World, task: Task<'w>) -> TranscriptTalk<'w> {
        let talk = TranscriptTalk { world, task };
        talk.until_calls(1);
        let is_there = || fs::read_to_string(talk.file(1)).is_ok_and(|text| text.contains("\"user\""));
        world.until("it talks", is_there);
        talk
    }

    /// Calls of the harness, without the path of the prompt.
    fn calls(&self) -> Vec<String> {
        let calls = fs::read_to_string(self.world.home().join("calls")).unwrap_or_default();
        let short = |line: &str| {
            line.split(' ').map(|word| word.rsplit('/').next().unwrap()).collect::<Vec<_>>().join(" ")
        };
        calls.lines().map(short).collect()
    }

    fn until_calls(&self, count: usize) {
        self.world.until(&format!("it was called {count} times"), || self.calls().len() >= count);
    }

    fn id(&self, spawn: u32) -> String {
        format!("talk-{}-{spawn}", self.task.id)
    }

    fn file(&self, spawn: u32) -> PathBuf {
        self.world.path("home/talks").join(format!("{}.jsonl", self.id(spawn)))
    }

    /// Ends the agent that is alive, and waits until that is on record.
    fn end(&self) {
        let before = self.task.events_of("agent.exited").len();
        fs::write(self.world.path("home/end"), "").unwrap();
        self.task.has_events(before + 1, "agent.exited");
    }
}

#[test]
fn a_followed_conversation_is_a_line_for_each_turn() {
    let world = talking_world();
    let talk = TranscriptTalk::begin(&world);
    let mut follow = begin(&world, &["task", "logs", &talk.task.id, "--follow", "--json"]);
    let lines = lines(&mut follow);
    let asked = lines.recv().unwrap();
    talk.end();
    let turns = std::iter::once(asked).chain(lines).map(|line| serde_json::from_str(&line).unwrap());
    let turns: Vec<Value> = turns.collect();
    turns.iter().for_each(|turn| answers::check(&["task", "logs"], turn));
    let kinds: Vec<_> = turns.iter().map(|turn| (&turn["spawn"], turn["kind"].as_str().unwrap())).collect();
    assert_eq!(kinds, [(&json!(1), "asked"), (&json!(1), "said")], "{turns:?}");
    assert!(follow.wait().unwrap().success());
}

#[test]
fn a_respawned_agent_continues_its_conversation() {
    let world = talking_world();
    let talk = TranscriptTalk::begin(&world);
    talk.end();
    let exited = &talk.task.events_of("agent.exited")[0];
    assert_eq!((&exited["conversation"], &exited["transcript"]), (&json!(talk.id(1)), &json!("1.jsonl.gz")));
    assert_eq!(kept(&talk.task), ["1.jsonl.gz"]);
    let turns = talk.task.ok("logs", &[])["turns"].clone();
    assert_eq!((&turns[0]["kind"], &turns[1]["text"]), (&json!("asked"), &json!("Bye.")));

    let answer = talk.task.ok("respawn", &[]);
    assert_eq!((&answer["resumed"], &answer["not_resumed"]), (&json!(true), &Value::Null));
    talk.until_calls(2);
    assert_eq!(talk.calls(), ["1.md".to_owned(), format!("--continue {} 2.md", talk.id(1))]);
    let respawned = &talk.task.events_of("agent.respawned")[0];
    assert_eq!((&respawned["conversation"], &respawned["resumed"]), (&json!(talk.id(1)), &json!(true)));
    let logs = talk.task.ok("logs", &[]);
    assert_eq!(
        (&logs["alive"], &logs["resumed"], &logs["form"]),
        (&json!(true), &json!(true), &json!("jsonl"))
    );
}

#[test]
fn a_fresh_respawn_begins_a_new_conversation() {
    let world = talking_world();
    let talk = TranscriptTalk::begin(&world);
    talk.end();
    let answer = talk.task.ok("respawn", &["--fresh"]);
    assert_eq!((&answer["resumed"], &answer["not_resumed"]), (&json!(false), &Value::Null));
    talk.until_calls(2);
    assert_eq!(talk.calls(), ["1.md", "2.md"]);
}

#[test]
fn a_missing_conversation_begins_again_and_the_answer_says_so() {
    let world = talking_world();
    let talk = TranscriptTalk::begin(&world);
    talk.end();
    fs::remove_file(talk.file(1)).unwrap();
    let answer = talk.task.ok("respawn", &[]);
    assert_eq!(answer["not_resumed"], "the conversation of agent 1 is gone");
    assert_eq!(talk.task.events_of("agent.respawned")[0]["not_resumed"], answer["not_resumed"]);
    talk.until_calls(2);
    assert_eq!(talk.calls(), ["1.md", "2.md"]);
}

#[test]
fn a_refused_conversation_begins_again_without_a_crash() {
    let world = talking_world();
    let talk = TranscriptTalk::begin(&world);
    talk.end();
    let crashes = talk.task.owned("crash_count");
    fs::write(world.path("home/refuse"), "").unwrap();
    talk.task.ok("respawn", &[]);
    talk.until_calls(3);
    assert_eq!(talk.calls()[1..], [format!("--continue {} 2.md", talk.id(1)), "3.md".to_owned()]);
    talk.task.has_events(2, "agent.respawned");
    assert_eq!(talk.task.owned("crash_count"), crashes);
    let lost = &talk.task.events_of("agent.not_resumed")[0];
    assert_eq!((&lost["spawn"], &lost["conversation"]), (&json!(2), &json!(talk.id(1))));
    let attention = talk.task.show()["attention"].as_str().unwrap().to_owned();
    assert!(attention.contains("could not continue conversation"), "{attention}");
    // What it said is kept, and its own conversation is the one that is continued next.
    assert!(kept(&talk.task).contains(&"2.pane.gz".to_owned()), "{:?}", kept(&talk.task));
    assert!(talk.task.ok("logs", &["--spawn", "2"])["text"].as_str().unwrap().contains("No such talk"));
    fs::remove_file(world.path("home/refuse")).unwrap();
    talk.end();
    // A second crash: the task is stuck, and its fixer is a worker, too.
    talk.task.reaches("stuck");
    let answer = talk.task.ok("respawn", &[]);
    assert_eq!(answer["conversation"], talk.id(3));
}

#[test]
fn a_refused_conversation_of_a_step_begins_again_in_its_attempt() {
    let world = talking_world();
    world.workflow(
        "talk.toml",
        "[workflow]\nname = \"talk\"\n\n[[steps]]\nid = \"build\"\nharness = \"talker\"\nprompt = \"Build it: {{mission_prompt}}\"\n",
    );
    let talk = TranscriptTalk::of(&world, world.start("talk", &[]));
    fs::write(world.path("home/refuse"), "").unwrap();
    talk.end();
    talk.until_calls(3);
    assert_eq!(talk.calls()[1..], [format!("--continue {} 2.md", talk.id(1)), "3.md".to_owned()]);
    let lost = &talk.task.events_of("agent.not_resumed")[0];
    assert_eq!((&lost["spawn"], &lost["conversation"]), (&json!(2), &json!(talk.id(1))));
    let attempts =
        |kind: &str| talk.task.events_of(kind).iter().map(|it| it["attempt"].clone()).collect::<Vec<_>>();
    assert_eq!(
        (attempts("step.started"), attempts("step.ended")),
        (vec![json!(1), json!(2)], vec![json!(1)])
    );
    talk.task.ok("cancel", &["--yes"]);
}

#[test]
fn a_transition_starts_a_new_conversation() {
    let world = talking_world();
    let talk = TranscriptTalk::begin(&world);
    talk.task.ok("cancel", &["--yes"]);
    assert_eq!(talk.task.events_of("agent.exited")[0]["conversation"], talk.id(1));
    let other = world.create("other", "Mend it", &["--harness", "talker"]);
    talk.until_calls(2);
    assert_eq!(talk.calls(), ["1.md", "1.md"]);
    // It works in the same worktree, and its conversation is its own.
    talk.end_of(&other);
    let own = format!("talk-{}-1", other.id);
    assert_eq!(other.events_of("agent.exited")[0]["conversation"], own);
    assert_eq!(other.ok("respawn", &[])["conversation"], own);
}

impl TranscriptTalk<'_> {
    fn end_of(&self, task: &Task<'_>) {
        fs::write(self.world.path("home/end"), "").unwrap();
        task.has_events(1, "agent.exited");
    }
}

#[test]
fn a_file_that_is_no_transcript_is_not_kept() {
    let world = talking_world();
    let talk = TranscriptTalk::begin(&world);
    fs::remove_file(talk.file(1)).unwrap();
    let elsewhere = world.path("elsewhere");
    fs::write(&elsewhere, "somebody's own\n").unwrap();
    symlink(elsewhere, talk.file(1)).unwrap();
    talk.task.ok("cancel", &["--yes"]);
    assert_eq!(talk.task.events_of("agent.exited")[0]["transcript"], "1.pane.gz");
    assert!(talk.task.ok("logs", &[])["text"].as_str().unwrap().contains("on the screen"));
}

#[test]
fn an_id_in_the_journal_is_no_option_of_a_program() {
    let world = talking_world();
    let talk = TranscriptTalk::begin(&world);
    talk.end();
    let history = talk.task.folder().join("history.jsonl");
    let text = fs::read_to_string(&history).unwrap();
    let own = format!("\"conversation\":\"{}\"", talk.id(1));
    assert!(text.contains(&own));
    fs::write(&history, text.replace(&own, "\"conversation\":\"--help;touch x\"")).unwrap();
    let answer = talk.task.ok("respawn", &[]);
    assert_eq!(answer["resumed"], false);
    assert!(answer["not_resumed"].as_str().unwrap().contains("no program can be given"), "{answer}");
    talk.until_calls(2);
    assert_eq!(talk.calls(), ["1.md", "2.md"]);
}
