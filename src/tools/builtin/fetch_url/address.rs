//! Which addresses are whose: public ones, private ones, and those that nobody fetches a page from.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Whose an address is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Reach {
    /// The internet.
    Public,
    /// This computer or its network.
    Private,
    /// Link-local, metadata services, no host at all.
    Never,
}

/// Names that lead to this computer or its network, whatever a name server says.
pub(super) fn of_name(host: &str) -> Reach {
    let host = host.trim_end_matches('.').to_ascii_lowercase();
    if host == "metadata.google.internal" {
        return Reach::Never;
    }
    const PRIVATE: [&str; 8] = ["localhost", "local", "internal", "intranet", "lan", "home", "corp", "home.arpa"];
    let private = PRIVATE.iter().any(|suffix| host == *suffix || host.strip_suffix(suffix).is_some_and(|rest| rest.ends_with('.')));
    if private || !host.contains('.') { Reach::Private } else { Reach::Public }
}

/// Whose an address is, also when it is wrapped in one of another family.
pub(super) fn of_address(address: IpAddr) -> Reach {
    match address {
        IpAddr::V4(address) => of_v4(address),
        IpAddr::V6(address) => of_v6(address),
    }
}

fn of_v4(address: Ipv4Addr) -> Reach {
    // The fixed addresses of cloud providers' metadata and platform services that don't lie in the link-local range.
    const SERVICES: [Ipv4Addr; 3] = [Ipv4Addr::new(100, 100, 100, 200), Ipv4Addr::new(192, 0, 0, 192), Ipv4Addr::new(168, 63, 129, 16)];
    match address.octets() {
        _ if address.is_link_local() || address.is_multicast() || address.is_broadcast() || SERVICES.contains(&address) => Reach::Never,
        // On many systems `0.0.0.0` reaches this computer.
        [0, ..] => Reach::Never,
        [100, 64..=127, ..] | [192, 0, 0, _] | [198, 18..=19, ..] | [240..=255, ..] => Reach::Private,
        _ if address.is_loopback() || address.is_private() => Reach::Private,
        _ => Reach::Public,
    }
}

fn of_v6(address: Ipv6Addr) -> Reach {
    const METADATA: Ipv6Addr = Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254);
    if address.is_loopback() {
        return Reach::Private;
    }
    if address.is_unspecified() || address.is_multicast() || address.is_unicast_link_local() || address == METADATA {
        return Reach::Never;
    }
    let parts = address.segments();
    let embedded = |high: u16, low: u16| of_v4(Ipv4Addr::from((u32::from(high) << 16) | u32::from(low)));
    match parts {
        // An IPv4 address in IPv6 clothes: compatible, mapped, translated, 6to4.
        [0, 0, 0, 0, 0, 0 | 0xffff, high, low] | [0, 0, 0, 0, 0xffff, 0, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
            embedded(high, low)
        }
        [0x2002, high, low, ..] => embedded(high, low),
        [0x64, 0xff9b, 1, ..] | [0x2001, 0, ..] => Reach::Private,
        [first, ..] if first & 0xfe00 == 0xfc00 || first & 0xffc0 == 0xfec0 => Reach::Private,
        _ => Reach::Public,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_told_apart_in_every_clothing() {
        let of = |text: &str| of_address(text.parse().unwrap());
        for text in ["1.1.1.1", "93.184.216.34", "2606:4700::1111", "::ffff:1.1.1.1", "172.32.0.1", "64:ff9b::8.8.8.8"] {
            assert_eq!(of(text), Reach::Public, "{text}");
        }
        for text in [
            "127.0.0.1",
            "127.9.9.9",
            "10.0.0.1",
            "172.16.0.1",
            "192.168.1.1",
            "100.64.0.1",
            "198.18.0.1",
            "::1",
            "fd00::1",
            "fec0::1",
            "::ffff:127.0.0.1",
            "64:ff9b::10.0.0.1",
            "2002:7f00:1::",
            "::10.0.0.1",
            "2001::1",
        ] {
            assert_eq!(of(text), Reach::Private, "{text}");
        }
        for text in [
            "169.254.169.254",
            "0.0.0.0",
            "224.0.0.1",
            "255.255.255.255",
            "fe80::1",
            "ff02::1",
            "::",
            "::ffff:169.254.169.254",
            "100.100.100.200",
            "fd00:ec2::254",
        ] {
            assert_eq!(of(text), Reach::Never, "{text}");
        }
    }

    #[test]
    fn names_of_the_own_network_are_private() {
        for host in ["localhost", "LOCALHOST.", "a.localhost", "nas.local", "router", "db.internal", "x.home.arpa"] {
            assert_eq!(of_name(host), Reach::Private, "{host}");
        }
        for host in ["example.com", "local.example.com", "notlocalhost.com"] {
            assert_eq!(of_name(host), Reach::Public, "{host}");
        }
        assert_eq!(of_name("metadata.google.internal"), Reach::Never);
    }
}
