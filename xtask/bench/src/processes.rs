//! Times whole processes: many interleaved runs of each, wall time and processor time, medians.

use std::fs::File;
use std::io::BufRead;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;

/// A program to run, from a line `NAME⇥KEY=VALUE…⇥PROGRAM⇥ARGUMENT…`. An argument `A|B|C` stands for each of these in turn; a last
/// argument `<FILE` names the standard input.
struct BenchProgram {
    name: String,
    environment: Vec<(String, String)>,
    words: Vec<String>,
    input: Option<String>,
}

/// The times of one run.
#[derive(Clone, Copy)]
struct RunTimes {
    wall: Duration,
    cpu: Duration,
}

/// Reads programs from the standard input, runs each `rounds` times, and prints `NAME⇥WALL⇥CPU`, in microseconds.
pub fn measure(rounds: usize) -> Result<(), String> {
    let lines = std::io::stdin().lock().lines();
    let lines: Vec<String> = lines.collect::<Result<_, _>>().map_err(|error| error.to_string())?;
    let programs: Vec<BenchProgram> = lines.iter().map(|line| BenchProgram::parse(line)).collect();
    let mut took = vec![Vec::new(); programs.len()];
    for round in 0..rounds {
        for (program, took) in programs.iter().zip(&mut took) {
            took.push(program.run(round)?);
        }
    }
    for (program, took) in programs.iter().zip(took) {
        let wall = median(took.iter().map(|it| it.wall).collect());
        let cpu = median(took.iter().map(|it| it.cpu).collect());
        println!("{}\t{}\t{}", program.name, wall.as_micros(), cpu.as_micros());
    }
    Ok(())
}

impl BenchProgram {
    fn parse(line: &str) -> BenchProgram {
        let mut fields = line.split('\t').map(str::to_string);
        let name = fields.next().unwrap_or_default();
        let mut words: Vec<String> = fields.collect();
        let settings = words.iter().take_while(|word| word.contains('=')).count();
        let environment = words.drain(..settings);
        let environment = environment
            .filter_map(|it| Some(it.split_once('=')?).map(|(k, v)| (k.to_string(), v.to_string())));
        let environment = environment.collect();
        let input = words.pop_if(|word| word.starts_with('<')).map(|word| word[1..].to_string());
        BenchProgram { name, environment, words, input }
    }

    fn run(&self, round: usize) -> Result<RunTimes, String> {
        let turn = |word: &String| {
            let alternatives: Vec<&str> = word.split('|').collect();
            alternatives[round % alternatives.len()].to_string()
        };
        let words: Vec<String> = self.words.iter().map(turn).collect();
        let (program, arguments) = words.split_first().ok_or("a line names no program")?;
        let mut command = Command::new(program);
        command.args(arguments).envs(self.environment.iter().cloned());
        command.stdin(self.input()?).stdout(Stdio::null()).stderr(Stdio::null());
        let (started, used) = (Instant::now(), used_by_children()?);
        let status = command.status().map_err(|error| format!("{program}: {error}"))?;
        if !status.success() {
            return Err(format!("`{}` failed, {status}", words.join(" ")));
        }
        Ok(RunTimes { wall: started.elapsed(), cpu: used_by_children()?.saturating_sub(used) })
    }

    fn input(&self) -> Result<Stdio, String> {
        let Some(path) = &self.input else { return Ok(Stdio::null()) };
        File::open(path).map(Stdio::from).map_err(|error| format!("{path}: {error}"))
    }
}

/// The processor time of all children so far; the difference is that of the last one.
fn used_by_children() -> Result<Duration, String> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).map_err(|error| error.to_string())?;
    let micros = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
    Ok(Duration::from_micros(micros.unsigned_abs()))
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}
