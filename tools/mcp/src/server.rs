//! The server: what the protocol asks, as calls of `orange`.

use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation, JsonObject,
    ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, ToolAnnotations,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::call::{self, CallResult, Refusal};
use crate::tools::{self, TOOLS, Tool};

const INSTRUCTIONS: &str = "\
Orange drives the tasks of coding agents. Write what task_next says is missing into TASK.md, then ask for the status with \
task_update. A refusal changes nothing and says what would be accepted; do what it says and ask again.";

/// The server to which a client talks. It stores nothing: all that there is to know is in the files of `orange`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Server;

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("orange", env!("CARGO_PKG_VERSION")))
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        TOOLS.iter().map(described).collect::<Result<_, _>>().map(ListToolsResult::with_all_items)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(tool) = tools::named(&request.name) else {
            let names: Vec<_> = TOOLS.iter().map(|tool| tool.name).collect();
            let message = format!("there is no tool `{}`; there are: {}", request.name, names.join(", "));
            return Err(ErrorData::invalid_params(message, None));
        };
        let outcome = match tool.words(&request.arguments.unwrap_or_default()) {
            Ok(words) => call::orange(&words).await,
            Err(message) => Err(Refusal::usage(message)),
        };
        answered(outcome).map(Into::into)
    }
}

fn described(tool: &Tool) -> Result<rmcp::model::Tool, ErrorData> {
    let annotations = ToolAnnotations::new().read_only(tool.only_reads).open_world(false);
    let schema: JsonObject = json(&tool.schema())?;
    Ok(rmcp::model::Tool::new(tool.name, tool.about, Arc::new(schema)).with_annotations(annotations))
}

/// The answer as text that a model reads; as a value, too, where it is an object, since older clients take no other.
fn answered(outcome: CallResult) -> Result<CallToolResult, ErrorData> {
    let (answer, make): (Value, fn(Vec<ContentBlock>) -> CallToolResult) = match outcome {
        Ok(answer) => (answer, CallToolResult::success),
        Err(refusal) => (json(&refusal)?, CallToolResult::error),
    };
    let mut result = make(vec![ContentBlock::text(answer.to_string())]);
    result.structured_content = Some(answer).filter(Value::is_object);
    Ok(result)
}

/// One of our types in the form in which the protocol carries it.
fn json<T: DeserializeOwned>(value: &impl Serialize) -> Result<T, ErrorData> {
    let json = serde_json::to_value(value).and_then(serde_json::from_value);
    json.map_err(|cause| ErrorData::internal_error(cause.to_string(), None))
}
