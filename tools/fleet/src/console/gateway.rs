//! Entry point of the console at a gateway: the same tokens, and the same functions as those of the API's calls.

use std::path::PathBuf;
use std::sync::Arc;

use axum::Router;
use orange_api::gateway::NewMissionBody;
use orange_core::plan::{Execution, Inputs, Intervene};

use super::entry_point::{Ask, Begin, DoneRequest, EntryPoint, RefusedRequest};
use super::machine::LocalMachine;
use super::{Console, router};
use crate::host::{HostError, Later};
use crate::serve::auth::Rights;
use crate::serve::{ApiError, Gateway, MissionAction, act, answer_question, start_mission};

/// The pages of the console of a gateway, with the work of its machine if that is shown.
pub fn pages(gateway: &Arc<Gateway>, machine: Option<LocalMachine>) -> Router {
    let plans = gateway.workflows.all().collect();
    let entry_point = Arc::new(AtGateway(Arc::clone(gateway)));
    let (host, stopping) = (Arc::clone(&gateway.host), gateway.stopping.subscribe());
    router(Console::new(host, plans, entry_point, machine.map(Arc::new), stopping))
}

struct AtGateway(Arc<Gateway>);

impl EntryPoint for AtGateway {
    fn person(&self, token: &str) -> Option<String> {
        self.0.tokens.holder(token).filter(|it| it.rights == Rights::Person).map(|it| it.id)
    }

    fn name_of(&self, id: &str) -> Option<String> {
        self.0.tokens.name_of(id)
    }

    fn is_person(&self, id: &str) -> bool {
        self.0.tokens.rights_of(id) == Some(Rights::Person)
    }

    fn secret(&self) -> Vec<u8> {
        self.0.tokens.session_secret()
    }

    fn signed_out(&self) -> PathBuf {
        self.0.settings.folder.join("signed-out")
    }

    fn is_secure(&self) -> bool {
        self.0.settings.tls.is_some()
    }

    fn ask(&self, key: String, ask: Ask) -> Later<'_, Result<DoneRequest, RefusedRequest>> {
        Box::pin(async move {
            let done = match ask {
                Ask::Start(begin) => self.start(key, begin).await,
                Ask::Continue { mission, pause, accepts, execution, intervene } => {
                    let answer =
                        MissionAction::Continue { pause, accept_failure: accepts, execution, intervene };
                    self.act(key, mission, answer).await
                }
                Ask::Answer { mission, by, answer } => {
                    let given = answer_question(&self.0, Some(key), &mission, by, answer).await;
                    given.map(|_| DoneRequest { mission, answered: None })
                }
                Ask::Retry { mission, step } => self.act(key, mission, MissionAction::Retry(step)).await,
                Ask::Cancel { mission } => self.act(key, mission, MissionAction::Cancel).await,
            };
            match done {
                Ok(done) => Ok(Ok(done)),
                Err(error) if error.status.is_server_error() => Err(HostError::Unavailable(error.message)),
                Err(error) => Ok(Err(refused(error))),
            }
        })
    }
}

impl AtGateway {
    async fn start(&self, key: String, begin: Begin) -> Result<DoneRequest, ApiError> {
        let Begin { colony, workflow, prompt, branch, execution, intervene } = begin;
        let body = NewMissionBody {
            colony_id: colony,
            prompt,
            workflow,
            branch,
            execution: execution.map(|it| Execution::as_str(it).to_owned()),
            intervene: intervene.map(|it| Intervene::as_str(it).to_owned()),
            inputs: Inputs::new(),
        };
        let mission = start_mission(&self.0, Some(key), &Rights::Person, body).await?;
        Ok(DoneRequest { mission, answered: None })
    }

    async fn act(
        &self,
        key: String,
        mission: String,
        answer: MissionAction,
    ) -> Result<DoneRequest, ApiError> {
        let acted = act(&self.0, Some(key), &mission, answer).await?;
        Ok(DoneRequest { mission, answered: acted.answered })
    }
}

/// Refusal as a person reads it. Help that names calls of the API is for programs.
fn refused(error: ApiError) -> RefusedRequest {
    let ApiError { status, message, help, code: _ } = error;
    let is_for_programs = help.contains("/v1/") || help.contains("Idempotency-Key") || help.is_empty();
    let help = if is_for_programs {
        "Look at it as it is now, and ask again if that is still what you want.".to_owned()
    } else {
        help
    };
    RefusedRequest { status: status.as_u16(), message, help }
}
