# The test VM as a machine: its initramfs, its QEMU command line, its accelerator. Sourced by tests/vm/run.
# Uses $build (a cache folder), what find_kernel has set (kernels.sh), and $cpus, $memory, $append and $own_time where the machine has its own.
# shellcheck shell=bash disable=SC2154

# Everything a boot of this kernel needs; fast when nothing changed.
prepare_machine() { # KERNEL
  local lock
  exec {lock}>"$build/prepare-$1.lock"
  flock "$lock"
  find_kernel "$1"
  kernel_dir=$build/$release
  mkdir -p "$kernel_dir"
  build_softhca
  build_initramfs
  choose_accelerator
  exec {lock}>&-
}

# The first process, and the modules it needs to reach the host's root.
build_initramfs() { # sets $initramfs
  local tree=$kernel_dir/initramfs module file name
  initramfs=$kernel_dir/initramfs.gz
  if [ "$initramfs" -nt "$vm/init" ] && [ "$initramfs" -nt "$vmlinuz" ]; then return; fi
  rm -rf "$tree"
  mkdir -p "$tree"/{bin,proc,sys,dev,lower,upper,newroot,modules}
  cp /bin/busybox "$tree/bin/"
  install -m 755 "$vm/init" "$tree/init"
  for module in virtio_pci 9pnet_virtio 9p overlay; do
    # Kernel 7 has the first one built in, and modprobe does not know it there.
    modprobe -d "$modules_root" -S "$release" --show-depends "$module" 2>/dev/null || true
  done | awk '/^insmod/ && !seen[$2]++ {print $2}' >"$kernel_dir/initramfs.modules"
  while read -r file; do
    name=$(basename "${file%.xz}")
    case $file in *.xz) xz -dc "$file" ;; *) cat "$file" ;; esac >"$tree/modules/$name"
    echo "$name" >>"$tree/modules/order"
  done <"$kernel_dir/initramfs.modules"
  (cd "$tree" && find . | cpio --quiet -o -H newc | gzip -1) >"$initramfs.new"
  mv "$initramfs.new" "$initramfs"
}

# Two InfiniBand adapters: NVMe functions, for QEMU's real SR-IOV, which the module of tests/softhca takes over. The
# IOMMU (for VFIO) and room for 32 VFs a PF cost no measurable boot time, so every machine has them.
qemu() { # ACCELERATOR APPEND QEMU-OPTION...
  local accelerator=$1 append=$2 i cpu=host adapters=() clock=()
  local nvme=sriov_max_vfs=32,sriov_vq_flexible=64,sriov_vi_flexible=32,max_ioqpairs=66,msix_qsize=33
  shift 2
  # A plain processor: what newer ones add makes emulation slower.
  if [[ $accelerator == tcg* ]]; then cpu=Nehalem; fi
  if [[ $accelerator == tcg* && ${own_time:-} ]]; then
    accelerator=tcg,thread=single clock=(-icount "shift=1,sleep=on" -rtc clock=vm)
  fi
  for i in 0 1; do adapters+=(-device "pcie-root-port,slot=$i,id=port$i"); done
  for i in 0 1; do
    adapters+=(-device "nvme-subsys,id=sub$i" -device "nvme,bus=port$i,subsys=sub$i,serial=PF$i,$nvme")
  done
  exec qemu-system-x86_64 -accel "$accelerator" -cpu "$cpu" -smp "${cpus:-1}" -m "${VM_MEMORY:-${memory:-2048}}" -M q35 \
    -display none -monitor none -vga none -nic none -no-reboot -kernel "$vmlinuz" -initrd "$initramfs" \
    -append "console=ttyS0 panic=-1 oops=panic quiet no_timer_check log_buf_len=4M intel_iommu=on mitigations=off norandmaps $append" \
    -device intel-iommu,intremap=off "${adapters[@]}" "${clock[@]}" "$@"
}

# /dev/kvm can be there and yet not run a guest: only a guest that has run proves it. One verdict for each host boot.
choose_accelerator() { # sets $accelerator
  local verdict=$build/accelerator boot
  accelerator=tcg,thread=multi
  if [ ! -w /dev/kvm ]; then return; fi
  boot=$(cat /proc/sys/kernel/random/boot_id)
  if ! grep -qs "^$boot " "$verdict"; then
    if probe_kvm; then echo "$boot kvm"; else echo "$boot $accelerator"; fi >"$verdict.$BASHPID"
    mv "$verdict.$BASHPID" "$verdict"
  fi
  accelerator=$(cut -d' ' -f2 "$verdict")
}

probe_kvm() {
  local said
  said=$({ timeout --kill-after=1 10 bash -c "$(declare -p vmlinuz initramfs); $(declare -f qemu)
    qemu kvm probe=1 -serial null -serial stdio" </dev/null || true; } 2>/dev/null)
  [[ $said == *"guest runs"* ]]
}

# Boots the guest with the share "run", through which it learns what to do and gives its logs back. The console goes to
# a file, or to the terminal where $console says so; what the guest tells on its second serial port goes to stdout.
boot() { # SHARE [QEMU-OPTION...]
  local share=$1
  shift
  qemu "$accelerator" "${append:-}" "$@" \
    -virtfs local,path=/,mount_tag=root,security_model=none,readonly=on,multidevs=remap \
    -virtfs "local,path=$share,mount_tag=run,security_model=none"
}
