//! Plans as JSON, to run agents by hand.

use serde_json::Value;

use super::plan::{ModelAct, Plan, RequestFault};

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

fn act(value: &Value) -> Result<ModelAct, String> {
    let text = |place: usize| value[place].as_str().unwrap_or_default();
    let number = |place: usize| u32::try_from(value[place].as_u64().unwrap_or(1)).unwrap_or(1);
    Ok(match text(0) {
        "run" => ModelAct::run(text(1)),
        "orange" => ModelAct::orange(text(1)),
        "quoted" => ModelAct::quoted(text(1)),
        "read" => ModelAct::read(text(1)),
        "write" => ModelAct::write(text(1), text(2)),
        "edit" => ModelAct::edit(text(1), text(2), text(3)),
        "append" => ModelAct::append(text(1), text(2)),
        "extend" => ModelAct::extend(text(1), text(2)),
        "say" => ModelAct::say(text(1)),
        "hold" => ModelAct::hold(text(1)),
        "rate-limit" => ModelAct::Fail(RequestFault::RateLimit(number(1)), number(2)),
        "overloaded" => ModelAct::Fail(RequestFault::Overloaded, number(1)),
        "dropped" => ModelAct::Fail(RequestFault::Dropped, number(1)),
        "too-long" => ModelAct::Fail(RequestFault::TooLong, number(1)),
        _ => return Err(format!("{value} is not an act")),
    })
}
