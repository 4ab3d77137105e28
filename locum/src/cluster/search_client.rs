//! Asks the search nodes: the next one if the first does not answer soon.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use base::{Fault, clock};
use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use http::Request;
use http::header::AUTHORIZATION;
use http_body_util::{BodyExt, Full, Limited};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use parking_lot::Mutex;
use post_search::{SearchNodeAnswer, SearchNodes};
use store::nodes::NodeAddress;
use store::{NodeRole, Store};

use super::{ClusterKey, MAX_MESSAGE_BYTES, SEARCH_PATH};

/// Without an answer after this long, another node is asked as well.
const HEDGE_DELAY: Duration = Duration::from_millis(400);
/// The bound of all attempts together; longer than a node waits for its index.
const TOTAL_TIMEOUT: Duration = Duration::from_secs(3);
/// How long a node that failed or was slow is asked after the others.
const AVOIDANCE: Duration = Duration::from_secs(5);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(1);
/// Shorter than a node keeps idle connections.
const IDLE_TIMEOUT: Duration = Duration::from_secs(30);
/// Nodes that are asked the same question at a time.
const MAX_ATTEMPTS: usize = 3;
/// Live nodes are looked up so often: one may have just started, or taken its lease again.
const MAX_ROUNDS: usize = 3;
const ROUND_DELAY: Duration = Duration::from_millis(500);

pub(crate) struct SearchNodeClient {
    store: Arc<Store>,
    key: ClusterKey,
    client: Client<HttpConnector, Full<Bytes>>,
    /// Until when nodes are avoided, by incarnation.
    avoided: Mutex<HashMap<i64, Instant>>,
    /// Spreads questions over the nodes.
    turn: AtomicUsize,
}

impl SearchNodeClient {
    pub(crate) fn new(store: &Arc<Store>, key: ClusterKey) -> Arc<Self> {
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        connector.set_connect_timeout(Some(CONNECT_TIMEOUT));
        let mut builder = Client::builder(TokioExecutor::new());
        let client = builder.pool_timer(TokioTimer::new()).pool_idle_timeout(IDLE_TIMEOUT).build(connector);
        let (avoided, turn) = (Mutex::default(), AtomicUsize::new(0));
        Arc::new(Self { store: Arc::clone(store), key, client, avoided, turn })
    }

    /// In turn, those to avoid last.
    fn candidates(&self) -> Vec<NodeAddress> {
        let mut nodes = self.store.context().node.others_with_role(NodeRole::Search);
        nodes.sort_unstable_by_key(|node| node.incarnation);
        let turn = self.turn.fetch_add(1, Ordering::Relaxed).checked_rem(nodes.len()).unwrap_or(0);
        nodes.rotate_left(turn);
        let now = clock::monotonic_now();
        let mut avoided = self.avoided.lock();
        avoided.retain(|_, until| *until > now);
        nodes.sort_by_key(|node| avoided.contains_key(&node.incarnation));
        nodes.truncate(MAX_ATTEMPTS);
        nodes
    }

    fn avoid(&self, node: &NodeAddress) {
        self.avoided.lock().insert(node.incarnation, clock::monotonic_now() + AVOIDANCE);
    }

    async fn ask_nodes(&self, question: Bytes) -> Result<Vec<u8>, Fault> {
        let mut waiting = self.candidates().into_iter();
        let mut rounds = 1;
        let mut asked = FuturesUnordered::new();
        let mut pending = BTreeSet::new();
        let mut newest: Option<NodeAddress> = None;
        let mut last_fault = Fault::new("no live node has the role search");
        loop {
            if let Some(node) = waiting.next() {
                newest = Some(node.clone());
                pending.insert(node.incarnation);
                asked.push(self.ask_node(node, question.clone()));
            }
            let is_another_round_due = waiting.len() == 0 && pending.len() < MAX_ATTEMPTS && rounds < MAX_ROUNDS;
            if asked.is_empty() && !is_another_round_due {
                return Err(last_fault);
            }
            let patience = match () {
                () if waiting.len() > 0 => HEDGE_DELAY,
                () if is_another_round_due => ROUND_DELAY,
                () => TOTAL_TIMEOUT,
            };
            let next_answer = async {
                match asked.next().await {
                    Some(answer) => answer,
                    None => std::future::pending().await,
                }
            };
            match tokio::time::timeout(patience, next_answer).await {
                Ok(Ok(answer)) => return Ok(answer),
                Ok(Err((node, fault))) => {
                    tracing::warn!(address = node.address, error = %fault, "a search node did not answer");
                    self.avoid(&node);
                    pending.remove(&node.incarnation);
                    last_fault = fault;
                }
                Err(_) => {
                    newest.take().iter().for_each(|node| self.avoid(node));
                    if is_another_round_due {
                        rounds += 1;
                        let live = self.candidates().into_iter();
                        let others = live.filter(|node| !pending.contains(&node.incarnation));
                        waiting = others.collect::<Vec<_>>().into_iter();
                    }
                }
            }
        }
    }

    async fn ask_node(&self, node: NodeAddress, question: Bytes) -> Result<Vec<u8>, (NodeAddress, Fault)> {
        let asking = self.send_question(&node, question);
        asking.await.map_err(|fault| (node, fault))
    }

    async fn send_question(&self, node: &NodeAddress, question: Bytes) -> Result<Vec<u8>, Fault> {
        let now = self.store.context().clock.now();
        let authorization = self.key.authorize(node.incarnation, now, &question);
        let request = Request::post(format!("http://{}{SEARCH_PATH}", node.address))
            .header(AUTHORIZATION, authorization)
            .body(Full::new(question))
            .map_err(Fault::context("asking a search node"))?;
        let response = self.client.request(request).await.map_err(Fault::context("asking a search node"))?;
        let status = response.status();
        let body = Limited::new(response.into_body(), MAX_MESSAGE_BYTES).collect().await;
        let body = body.map_err(Fault::context("reading the answer of a search node"))?.to_bytes();
        if status.is_success() {
            return Ok(body.into());
        }
        Err(Fault::new(format!("it answered {status}: {}", String::from_utf8_lossy(&body).trim())))
    }
}

impl SearchNodes for SearchNodeClient {
    fn has_nodes(&self) -> bool {
        !self.store.context().node.others_with_role(NodeRole::Search).is_empty()
    }

    fn ask(&self, question: Vec<u8>) -> SearchNodeAnswer<'_> {
        Box::pin(async move {
            let asking = tokio::time::timeout(TOTAL_TIMEOUT, self.ask_nodes(question.into()));
            let outcome = asking.await.unwrap_or_else(|_| Err(Fault::new("no search node answered in time")));
            outcome.map_err(Fault::into_transient)
        })
    }
}
