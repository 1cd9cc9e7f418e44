//! What a client asks of agents, tools, servers and rules.

use super::ClientSession;
use crate::host::client::{Notice, Request};

impl ClientSession {
    /// What is asked of agents, tools, servers and rules; everything else has its arm where requests are handled.
    pub(super) fn of_tools(&mut self, request: Request) {
        match request {
            Request::ListInventory => self.inventory(),
            Request::TurnServer { name, turn } => self.turn_server(name, turn),
            Request::ReadServerLog(name) => {
                let shared = self.shared.clone();
                self.aside(move || shared.server_log(name).unwrap_or_else(Notice::Problem));
            }
            Request::ReadCard(name) => {
                let shared = self.shared.clone();
                self.aside(move || shared.read_card(&name).unwrap_or_else(Notice::Problem));
            }
            Request::SaveCard { name, text } => {
                self.notify_with(self.shared.save_card(&name, text));
                self.notify(self.catalog());
            }
            Request::RevokeRule(id) => {
                self.tell(self.shared.places.kept_trust().rules().revoke(id, &self.shared.permission_log()));
                self.inventory();
            }
            Request::OfferRules { run, gate } => {
                let shared = self.shared.clone();
                self.aside(move || {
                    shared.offer_rules(&run, gate).map_or_else(Notice::Problem, |offers| Notice::RuleOffers { run, gate, offers })
                });
            }
            Request::WeighRule { run, gate, only } => {
                let shared = self.shared.clone();
                self.aside(move || {
                    let weighed = shared.weigh_rule(&run, gate, only.clone());
                    weighed.map_or_else(Notice::Problem, |offer| Notice::RuleWeighed { run, gate, only, offer })
                });
            }
            Request::KeepRule { run, gate, scope, only } => {
                let shared = self.shared.clone();
                self.aside(move || shared.keep_rule(&run, gate, scope, only).unwrap_or_else(Notice::Problem));
            }
            _ => {}
        }
    }
}
