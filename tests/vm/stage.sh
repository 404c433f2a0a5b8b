# The node's VFs go, for a story or a document whose agent makes its own; and come back as they are made at its boot.
# shellcheck shell=bash disable=SC2154

declare -A vfs_at_boot # PF: how many it has
for pf in "$PF0" "$PF1"; do vfs_at_boot[$pf]=$(cat "/sys/bus/pci/devices/$pf/sriov_numvfs"); done

clear_stage() {
  local pf
  for pf in "$PF0" "$PF1"; do echo 0 >"/sys/bus/pci/devices/$pf/sriov_numvfs"; done
}

# The PFs forget the GUIDs that so many VFs each were given.
stage_as_before() { # VFS
  local number vf
  clear_stage
  for number in 0 1; do
    echo "${vfs_at_boot[$(pf_pci "$number")]}" >"/sys/bus/pci/devices/$(pf_pci "$number")/sriov_numvfs"
    for ((vf = 0; vf < $1; vf++)); do clear_guid "$number" "$vf"; done
  done
}
