#pragma once

#include <memory>

#include "gauze/random/bit_source.h"

namespace gauze {

/// The production source: AES-256 in counter mode, keyed by the operating system (`getrandom`).
///
/// Secrecy    each refill of 4 KiB also makes the next key and forgets the last, so stolen memory
///            reveals nothing that was already handed out.
/// Reseeding  fresh operating-system entropy is mixed into the key every 16 MiB and after a fork.
/// Failure    throws `kEntropy` when the system gives no randomness; there is no fallback.
/// Threads    one object per thread; no lock, no shared state.
/// Argument   system_bits.md
class SystemBits final : public BitSource {
 public:
  SystemBits();
  ~SystemBits() override;

 private:
  void refill(Buffer& buffer) override;
  void mix_in_entropy();

  struct Cipher;
  std::unique_ptr<Cipher> cipher_;
};

}  // namespace gauze
