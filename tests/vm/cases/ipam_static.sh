#!/bin/bash
# Debian's static IPAM: IPv4 and IPv6 addresses through with duplicate address detection, gateways and routes; gone after DEL.
. "$ROOT/tests/vm/lib.sh"

vf=$(vf_pci 0 1)
set_static_guid 0 1 02:00:00:00:00:00:01:01
new_pod p1
conf "$vf" '.cniVersion = "1.0.0" | .rdmaIsolation = true | .ipam = {type: "static",
  addresses: [{address: "10.8.0.2/24", gateway: "10.8.0.1"}, {address: "fd08::2/64", gateway: "fd08::1"}],
  routes: [{dst: "10.20.0.0/16"}, {dst: "10.21.0.0/16", gw: "10.8.0.9"}, {dst: "fd20::/32"}, {dst: "0.0.0.0/0"}],
  dns: {nameservers: ["10.8.0.53"], domain: "example.org"}}'
remember_node
add p1
expect_match "addresses" "$(ip -n p1 -o address show dev net1 | awk '{print $4}' | xargs)" "10.8.0.2/24 fd08::2/64 *"
expect_eq "addresses in duplicate address detection, or without success" \
  "$(ip -n p1 -6 address show dev net1 to fd08::/64 | grep -cE 'tentative|dadfailed' || true)" 0
expect_eq "routes" "$(ip -n p1 route show proto boot; ip -n p1 route | grep -c 'via 10.8.0' || true)" \
  "$(ip -n p1 route show proto boot; echo 3)"
expect_match "route by the address's gateway" "$(ip -n p1 route get 10.20.1.1)" "*via 10.8.0.1 dev net1*"
expect_match "route by its own gateway" "$(ip -n p1 route get 10.21.1.1)" "*via 10.8.0.9 dev net1*"
expect_match "default route" "$(ip -n p1 route get 192.0.2.1)" "*via 10.8.0.1 dev net1*"
expect_match "IPv6 route" "$(ip -n p1 -6 route get fd20::1)" "*via fd08::1 dev net1*"
expect_result '[.ips[] | .address, .gateway, .interface] == ["10.8.0.2/24", "10.8.0.1", 0, "fd08::2/64", "fd08::1", 0]'
expect_result '(.routes | length) == 4 and .dns.nameservers == ["10.8.0.53"] and .dns.domain == "example.org"'
del p1
expect_unchanged "ADD and DEL"

say "a gateway that no address reaches: the network is wrong, and its interface is named"
conf "$vf" '.cniVersion = "1.0.0" | .ipam = {type: "static", addresses: [{address: "10.8.0.2/24"}],
  routes: [{dst: "10.20.0.0/16", gw: "10.9.0.1"}]}'
call ADD p1
expect_error 7 "*net1: add the route to 10.20.0.0/16 via 10.9.0.1: kernel: *; 10.9.0.1 is in none of the subnets of the interface's addresses"
expect_unchanged "an ADD that is refused"
