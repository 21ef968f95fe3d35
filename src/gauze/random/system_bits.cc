#include "gauze/random/system_bits.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <sys/random.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "gauze/base/error.h"

namespace gauze {
namespace {

constexpr std::size_t kKeyBytes = 32;
constexpr std::size_t kSeedBytes = kKeyBytes + 16;  // key and counter block
constexpr std::uint64_t kRefillsPerReseed = 4096;   // of 4 KiB each

void system_entropy(std::span<unsigned char> out) {
  std::size_t filled = 0;
  while (filled < out.size()) {
    const ssize_t got = getrandom(out.data() + filled, out.size() - filled, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      OPENSSL_cleanse(out.data(), out.size());
      throw Error(ErrorCode::kEntropy,
                  "the operating system gave no random bytes (getrandom failed); Gauze releases "
                  "nothing without them");
    }
    filled += static_cast<std::size_t>(got);
  }
}

void check(int status) {
  if (status != 1) throw Error(ErrorCode::kEntropy, "OpenSSL could not run AES-256-CTR");
}

}  // namespace

struct SystemBits::Cipher {
  EVP_CIPHER_CTX* context = EVP_CIPHER_CTX_new();
  EVP_CIPHER* algorithm = EVP_CIPHER_fetch(nullptr, "AES-256-CTR", nullptr);
  std::array<unsigned char, kSeedBytes> seed{};
  std::uint64_t refills = 0;

  Cipher() = default;
  Cipher(const Cipher&) = delete;
  Cipher& operator=(const Cipher&) = delete;
  ~Cipher() {
    EVP_CIPHER_CTX_free(context);
    EVP_CIPHER_free(algorithm);
    OPENSSL_cleanse(seed.data(), seed.size());
  }
};

SystemBits::SystemBits() : cipher_(std::make_unique<Cipher>()) {
  if (cipher_->context == nullptr || cipher_->algorithm == nullptr) {
    throw Error(ErrorCode::kEntropy, "OpenSSL offers no AES-256-CTR");
  }
  mix_in_entropy();
}

SystemBits::~SystemBits() {
  OPENSSL_cleanse(buffer().data(), sizeof(Buffer));
}

void SystemBits::mix_in_entropy() {
  std::array<unsigned char, kSeedBytes> fresh{};
  system_entropy(fresh);
  for (std::size_t i = 0; i < kSeedBytes; ++i) cipher_->seed[i] ^= fresh[i];
  OPENSSL_cleanse(fresh.data(), fresh.size());
  cipher_->refills = 0;
}

void SystemBits::refill(Buffer& buffer) {
  if (forked() || cipher_->refills == kRefillsPerReseed) mix_in_entropy();
  // Until the next seed is in place this one counts as used up: after a failure, fresh entropy.
  const std::uint64_t refills = std::exchange(cipher_->refills, kRefillsPerReseed) + 1;
  auto& seed = cipher_->seed;
  auto* const bytes = reinterpret_cast<unsigned char*>(buffer.data());
  int written = 0;
  check(EVP_EncryptInit_ex2(cipher_->context, cipher_->algorithm, seed.data(),
                            seed.data() + kKeyBytes, nullptr));
  // Encrypting zeros gives the key stream: first the buffer, then the seed of the next refill.
  std::memset(bytes, 0, sizeof(Buffer));
  check(EVP_EncryptUpdate(cipher_->context, bytes, &written, bytes,
                          static_cast<int>(sizeof(Buffer))));
  seed.fill(0);
  check(EVP_EncryptUpdate(cipher_->context, seed.data(), &written, seed.data(),
                          static_cast<int>(kSeedBytes)));
  cipher_->refills = refills;
}

}  // namespace gauze
