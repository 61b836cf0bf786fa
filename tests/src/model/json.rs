//! Plans as JSON, to run agents by hand.

use serde_json::Value;

use super::plan::{Act, Fault, Plan};

/// Reads `[{"prompt": ["…"], "within": ["…"], "acts": [["run", "ls"], …]}, …]`.
pub fn plans(text: &str) -> Result<Vec<Plan>, String> {
    let all: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let all = all.as_array().ok_or("a list of plans is wanted")?;
    all.iter().map(plan).collect()
}

fn plan(value: &Value) -> Result<Plan, String> {
    let texts = |key: &str| -> Vec<String> {
        let list = value[key].as_array().map(Vec::as_slice).unwrap_or_default();
        list.iter().filter_map(|text| text.as_str().map(str::to_owned)).collect()
    };
    let acts = value["acts"].as_array().ok_or("a plan has `acts`, a list")?;
    let acts = acts.iter().map(act).collect::<Result<_, _>>()?;
    Ok(Plan { prompt: texts("prompt"), conversation: texts("within"), acts })
}

fn act(value: &Value) -> Result<Act, String> {
    let text = |place: usize| value[place].as_str().unwrap_or_default();
    let number = |place: usize| u32::try_from(value[place].as_u64().unwrap_or(1)).unwrap_or(1);
    Ok(match text(0) {
        "run" => Act::run(text(1)),
        "orange" => Act::orange(text(1)),
        "quoted" => Act::quoted(text(1)),
        "read" => Act::read(text(1)),
        "write" => Act::write(text(1), text(2)),
        "edit" => Act::edit(text(1), text(2), text(3)),
        "append" => Act::append(text(1), text(2)),
        "extend" => Act::extend(text(1), text(2)),
        "say" => Act::say(text(1)),
        "hold" => Act::hold(text(1)),
        "rate-limit" => Act::Fail(Fault::RateLimit(number(1)), number(2)),
        "overloaded" => Act::Fail(Fault::Overloaded, number(1)),
        "dropped" => Act::Fail(Fault::Dropped, number(1)),
        "too-long" => Act::Fail(Fault::TooLong, number(1)),
        _ => return Err(format!("{value} is not an act")),
    })
}
