//! A client on the Rust SDK, rmcp. It takes a plan (`clients/index.ts`) as its argument, follows it, and prints a line of JSON
//! for each step.
use std::error::Error;
use std::sync::Mutex;
use std::time::Duration;

use rmcp::model::*;
use rmcp::service::{NotificationContext, RequestContext, RunningService};
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use rmcp::{ClientHandler, ClientLifecycleMode, ClientServiceExt, ErrorData, RoleClient};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, from_value, json, to_value};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

type Failure = Box<dyn Error + Send + Sync>;
type Session = RunningService<RoleClient, Handler>;

/// Answers what the server asks, and takes what it tells.
struct Handler {
    guarded: String,
    questions: Mutex<Vec<String>>,
    updates: UnboundedSender<String>,
}

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        let capabilities = ClientCapabilities::builder().enable_elicitation().build();
        ClientConfig::new(capabilities, Implementation::new("rust", "1.0.0"))
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let question = text(&wire(request), "message");
        let agreed = question.contains(&self.guarded);
        self.questions.lock().expect("questions").push(question);
        Ok(if agreed {
            ElicitResult::new(ElicitationAction::Accept).with_content(json!({ "confirm": true }))
        } else {
            ElicitResult::new(ElicitationAction::Decline)
        })
    }

    async fn on_resource_updated(&self, told: ResourceUpdatedNotificationParam, _: NotificationContext<RoleClient>) {
        let _ = self.updates.send(told.uri);
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failure> {
    let plan: Value = serde_json::from_str(&std::env::args().nth(1).ok_or("there is no plan")?)?;
    let (updates, mut updated) = unbounded_channel();
    let handler = Handler { guarded: text(&plan, "guarded"), questions: Mutex::default(), updates };
    let session = connect(&plan, handler).await?;
    follow(&plan, &session, &mut updated).await?;
    session.cancel().await?;
    say("end", json!({}));
    Ok(())
}

async fn connect(plan: &Value, handler: Handler) -> Result<Session, Failure> {
    let revision: ProtocolVersion = made(plan["revision"].clone());
    let modern = revision == ProtocolVersion::V_2026_07_28;
    let mode = if modern {
        ClientLifecycleMode::Discover { preferred_versions: vec![revision] }
    } else {
        ClientLifecycleMode::Initialize
    };
    let session = if plan["url"].is_string() {
        let transport = StreamableHttpClientTransport::from_uri(text(plan, "url"));
        handler.serve_with_lifecycle(transport, mode).await?
    } else {
        let mut command = tokio::process::Command::new(text(plan, "command"));
        command.args(made::<Vec<String>>(plan["args"].clone()));
        handler.serve_with_lifecycle(TokioChildProcess::new(command)?, mode).await?
    };
    let met = session.peer_info().ok_or("the server did not say who it is")?;
    say(
        "connect",
        json!({ "revision": met.protocol_version, "server": met.server_info.as_ref().map(|who| &who.name) }),
    );
    Ok(session)
}

async fn follow(plan: &Value, session: &Session, updated: &mut UnboundedReceiver<String>) -> Result<(), Failure> {
    let (mut uris, mut pages, mut cursor) = (Vec::new(), 0, None);
    loop {
        let page = session.list_resources(Some(PaginatedRequestParams::default().with_cursor(cursor))).await?;
        uris.extend(page.resources.into_iter().map(|each| each.uri));
        pages += 1;
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    say("list", json!({ "uris": uris, "pages": pages }));
    say("tools", json!({ "names": names(session).await? }));

    let read = async |uri: &str| -> Result<Value, Failure> {
        Ok(wire(session.read_resource(ReadResourceRequestParams::new(uri)).await?)["contents"][0].take())
    };
    say("text", json!({ "text": read(&text(plan, "text")).await?["text"] }));
    say("binary", json!({ "base64": read(&text(plan, "binary")).await?["blob"] }));
    for template in session.list_all_resource_templates().await? {
        if template.uri_template == text(plan, "template") {
            let uri = template.uri_template.replace("{resourceId}", "7");
            say("template", json!({ "text": read(&uri).await?["text"] }));
        }
    }

    say("updated", json!({ "uri": change(plan, session, updated).await? }));

    let call = async |name: &str, arguments: Value| -> Result<String, Failure> {
        let params = CallToolRequestParams::new(name.to_owned()).with_arguments(made(arguments));
        Ok(text_of(&wire(session.call_tool(params).await?)["content"]))
    };
    let asked = || std::mem::take(&mut *session.service().questions.lock().expect("questions"));
    say("read", json!({ "text": call("read", json!({ "uri": plan["text"], "as": "plain" })).await? }));
    say("search", json!({ "text": call("search", plan["search"].clone()).await? }));
    let guarded = call("read", json!({ "uri": plan["guarded"], "as": "plain" })).await?;
    say("asked", json!({ "text": guarded, "questions": asked() }));
    let asking = text(plan, "asking");
    for _ in 0..plan["tries"].as_u64().unwrap_or(0) {
        if names(session).await?.contains(&asking) {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    say("stranger asked", json!({ "text": call(&asking, json!({})).await?, "questions": asked() }));

    let name = text(&plan["prompt"], "name");
    let params = GetPromptRequestParams::new(&name).with_arguments(made(plan["prompt"]["arguments"].clone()));
    let messages = wire(session.get_prompt(params).await?)["messages"].take();
    let blocks: Vec<_> = made::<Vec<Value>>(messages).into_iter().map(|mut each| each["content"].take()).collect();
    say("prompt", json!({ "text": text_of(&json!(blocks)) }));
    let argument = &plan["argument"];
    let values = session.complete_prompt_simple(name, text(argument, "name"), text(argument, "value")).await?;
    say("complete", json!({ "values": values }));
    Ok(())
}

/// Subscribes, and waits for the first change: in the way of the revision.
async fn change(plan: &Value, session: &Session, updated: &mut UnboundedReceiver<String>) -> Result<String, Failure> {
    let uri = text(plan, "watched");
    if plan["revision"] == "2026-07-28" {
        let mut stream = session.listen(SubscriptionFilter::builder().resource_subscriptions([&uri]).build()).await?;
        say("subscribed", json!({}));
        let told = wire(stream.next().await?.ok_or("the stream ended")?);
        stream.cancel().await?;
        return Ok(text(&told["params"], "uri"));
    }
    #[allow(deprecated)]
    session.subscribe(SubscribeRequestParams::new(&uri)).await?;
    say("subscribed", json!({}));
    let told = updated.recv().await.ok_or("nothing was told")?;
    #[allow(deprecated)]
    session.unsubscribe(UnsubscribeRequestParams::new(&uri)).await?;
    Ok(told)
}

async fn names(session: &Session) -> Result<Vec<String>, Failure> {
    Ok(session.list_all_tools().await?.into_iter().map(|each| each.name.into_owned()).collect())
}

/// A value as it is on the wire.
fn wire(value: impl Serialize) -> Value {
    to_value(value).expect("it can be JSON")
}

fn made<T: DeserializeOwned>(value: Value) -> T {
    from_value(value).expect("it is what it has to be")
}

fn text(of: &Value, member: &str) -> String {
    of[member].as_str().unwrap_or_default().to_owned()
}

fn text_of(blocks: &Value) -> String {
    let each =
        |block: &Value| block["text"].as_str().or(block["resource"]["text"].as_str()).unwrap_or_default().to_owned();
    blocks.as_array().into_iter().flatten().map(each).collect::<Vec<_>>().join("\n")
}

fn say(step: &str, mut what: Value) {
    what["step"] = json!(step);
    println!("{what}");
}
