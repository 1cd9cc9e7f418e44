//! Which models can't keep ids straight, by what is known before they are asked: their size, and where they run.

/// The largest model, in billions of parameters, that is asked for numbered ids at once.
const SMALL: f64 = 4.0;

/// Whether a model is likely too small for ids of its own: its name says so, or it runs on this computer and nothing is known of it.
pub fn is_small(model: &str, provider: &str, is_known: bool) -> bool {
    match size(model) {
        Some(billions) => billions <= SMALL,
        None => !is_known && is_here(provider),
    }
}

/// Parameters in billions, as names tell them: `qwen2.5:0.5b`, `Llama-3.2-3B-Instruct`, `SmolLM2-135M`.
fn size(model: &str) -> Option<f64> {
    let name = model.to_ascii_lowercase();
    name.split(|c: char| !(c.is_ascii_alphanumeric() || c == '.')).filter_map(billions).next()
}

fn billions(word: &str) -> Option<f64> {
    let (number, unit) = word.split_at_checked(word.len().checked_sub(1)?)?;
    let of_one = match unit {
        "b" => 1.0,
        "m" => 0.001,
        _ => return None,
    };
    number.starts_with(|c: char| c.is_ascii_digit()).then(|| number.parse::<f64>().ok()).flatten().map(|number| number * of_one)
}

/// Whether a provider, by its host and port, is this computer.
fn is_here(provider: &str) -> bool {
    let host = provider.rsplit_once(':').map_or(provider, |(host, _)| host).trim_matches(['[', ']']);
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn size_and_place_tell_small_models() {
        let small = ["qwen2.5:0.5b", "Llama-3.2-3B-Instruct", "SmolLM2-135M-Instruct.Q4_1", "gemma3:4b", "google/gemma-2-2b-it"];
        assert!(small.iter().all(|model| is_small(model, "api.example.com", false)));
        for large in ["qwen2.5:7b", "Llama-3.3-70B", "mixtral-8x7b", "gpt-4o", "claude-sonnet-4", "o3"] {
            assert!(!is_small(large, "api.example.com", false), "{large}");
        }
        assert!(
            is_small("my-model", "127.0.0.1:8080", false)
                && is_small("my-model", "localhost:11434", false)
                && is_small("m", "[::1]:80", false)
        );
        assert!(!is_small("gpt-4o", "localhost:4000", true), "a gateway on this computer offers large ones too");
        assert!(!is_small("llama3.3:70b", "localhost:11434", false));
    }
}
