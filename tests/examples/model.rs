//! The scripted model by hand: `cargo run -p orange-tests --example model -- PLANS.json HOME`.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "it talks to a person")]

use std::path::Path;
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use orange_tests::harnesses;
use orange_tests::model::{Model, json};

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let (Some(plans), Some(home)) = (arguments.next(), arguments.next()) else {
        eprintln!("usage: model PLANS.json HOME [PORT]");
        return ExitCode::from(2);
    };
    match run(&plans, Path::new(&home), arguments.next().and_then(|port| port.parse().ok()).unwrap_or(0)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(plans: &str, home: &Path, port: u16) -> Result<(), String> {
    let text = std::fs::read_to_string(plans).map_err(|error| format!("{plans}: {error}"))?;
    let model = Model::start(port).map_err(|error| error.to_string())?;
    let places: Vec<usize> = json::plans(&text)?.into_iter().map(|plan| model.add(plan)).collect();
    for (file, text) in harnesses::files(&model.url()) {
        let file = home.join(file);
        let written = file.parent().map_or(Ok(()), std::fs::create_dir_all);
        written.and_then(|()| std::fs::write(&file, text)).map_err(|error| error.to_string())?;
    }
    println!("export HOME={}", home.display());
    for (name, value) in harnesses::variables(&model.url()) {
        println!("export {name}={value}");
    }
    let (mut printed, mut sides) = (vec![0; places.len()], 0);
    loop {
        thread::sleep(Duration::from_millis(200));
        for side in model.sides().iter().skip(sides) {
            sides += 1;
            println!("# aside: {} {:.300}", side.target, side.text);
        }
        for place in &places {
            let report = model.report(*place);
            let answered = report.exchanges.iter().filter(|exchange| exchange.answer.is_some());
            for exchange in answered.skip(printed[*place]) {
                printed[*place] += 1;
                let failed = if exchange.is_error { " FAILED" } else { "" };
                println!(
                    "# plan {place} act {}: {} {}\n#  ={failed} {}",
                    exchange.act,
                    exchange.tool,
                    exchange.input,
                    exchange.answer.as_deref().unwrap_or_default()
                );
            }
        }
    }
}
