#include <array>

#include "gauze/data/parquet_pages_internal.h"

// Numbers pack into pieces of a few bytes, a literal and a copy in turn, of lengths that nobody can foresee. So the quick way
// takes such a pair in the same steps whatever its lengths are, and leaves to the careful way what is rare, odd, or near an
// end (parquet.md).
namespace gauze::internal::parquet {
namespace {

constexpr std::size_t kMostPair = 128;  ///< bytes that a pair is read from, or written to, at most
constexpr std::size_t kNear = 8;        ///< copies from nearer overlap what one move writes

/// What a tag says of a copy. Its offset is 0 where it is none, or one with an offset of four bytes.
struct Copy {
  std::uint8_t length = 0;
  std::uint16_t mask = 0;   ///< of the offset in the bytes behind the tag
  std::uint16_t above = 0;  ///< its upper bits
};

constexpr std::array<Copy, 256> make_copies() {
  std::array<Copy, 256> copies{};
  for (unsigned tag = 0; tag < 256; ++tag) {
    if (tag % 4 == 1)
      copies[tag] = {static_cast<std::uint8_t>(tag / 4 % 8 + 4), 0xff,
                     static_cast<std::uint16_t>(tag >> 5 << 8)};
    if (tag % 4 == 2) copies[tag] = {static_cast<std::uint8_t>(tag / 4 + 1), 0xffff, 0};
  }
  return copies;
}
constexpr std::array<Copy, 256> kCopies = make_copies();

/// At least `length` bytes, at most 64, from at least `kNear` before.
inline void move_bytes(std::uint8_t* to, const std::uint8_t* from, std::size_t length) {
  std::memcpy(to, from, 8);
  std::memcpy(to + 8, from + 8, 8);
  for (std::size_t i = 16; i < length; i += 8) std::memcpy(to + i, from + i, 8);
}

class Unpacker {
 public:
  Unpacker(Bytes from, std::span<std::uint8_t> to)
      : in_(from.data()),
        in_end_(from.data() + from.size()),
        begin_(to.data()),
        out_(to.data()),
        out_end_(to.data() + to.size()) {}

  void unpack() {
    expect(number_of_sevens() == to_come());
    while (in_ < in_end_) {
      if (left() >= kMostPair && to_come() >= kMostPair && made() >= kNear) take_quickly();
      if (in_ < in_end_) take_one();
    }
    expect(out_ == out_end_);
  }

 private:
  std::size_t left() const { return static_cast<std::size_t>(in_end_ - in_); }
  std::size_t to_come() const { return static_cast<std::size_t>(out_end_ - out_); }
  std::size_t made() const { return static_cast<std::size_t>(out_ - begin_); }

  /// Copies, each with the literal before it if there is one, until something else comes. `kNear` bytes are made already.
  void take_quickly() {
    const std::uint8_t* const in_stop = in_end_ - kMostPair;
    const std::uint8_t* const out_stop = out_end_ - kMostPair;
    const std::uint8_t* const near = begin_ + kNear;
    const std::uint8_t* in = in_;
    std::uint8_t* out = out_;
    while (in <= in_stop && out <= out_stop) {
      // The tag, and after a short literal the next one and its offset: what is in a register need not be waited for.
      std::uint64_t word = load<std::uint64_t>(in);
      if ((word & 3) == 0) {
        const std::size_t upper = word & 0xfc;  // 4 (length - 1)
        const std::size_t length = upper / 4 + 1;
        move_bytes(out, in + 1, length);
        if (length <= 4) {
          word >>= 2 * upper + 16;  // 8 (length + 1)
        } else {
          if (length > 60) break;
          word = load<std::uint32_t>(in + 1 + length);
        }
        in += 1 + length;
        out += length;
      }
      const Copy copy = kCopies[word & 0xff];
      const std::size_t offset = (word >> 8 & copy.mask) + copy.above;
      // Not nearer than kNear, and not before the beginning.
      if (offset - kNear > static_cast<std::size_t>(out - near)) break;
      move_bytes(out, out - offset, copy.length);
      in += 1 + (word & 3);
      out += copy.length;
    }
    in_ = in;
    out_ = out;
  }

  void take_one() {
    const std::uint8_t tag = *in_++;
    std::size_t length = tag >> 2;
    if ((tag & 3) == 0) {
      length = length < 60 ? length + 1 : number(length - 59) + 1;
      expect(length <= left() && length <= to_come());
      std::memcpy(out_, in_, length);
      in_ += length;
      out_ += length;
      return;
    }
    std::size_t offset = 0;
    if ((tag & 3) == 1) {
      length = (length & 7) + 4;
      offset = static_cast<std::size_t>(tag >> 5) << 8 | number(1);
    } else {
      ++length;
      offset = number((tag & 3) == 2 ? 2 : 4);
    }
    expect(offset > 0 && offset <= made() && length <= to_come());
    for (; length > 0; --length, ++out_) *out_ = *(out_ - offset);
  }

  std::size_t number(std::size_t bytes) {
    expect(bytes <= left());
    std::size_t value = 0;
    for (std::size_t i = 0; i < bytes; ++i) value |= std::size_t{*in_++} << (8 * i);
    return value;
  }

  std::uint64_t number_of_sevens() {
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      expect(in_ < in_end_ && shift < 35);
      value |= std::uint64_t{*in_ & 0x7fu} << shift;
      if (*in_++ < 0x80) return value;
    }
  }

  const std::uint8_t *in_, *in_end_;
  std::uint8_t *begin_, *out_, *out_end_;
};

}  // namespace

void unpack_snappy(Bytes from, std::span<std::uint8_t> to) {
  Unpacker(from, to).unpack();
}

}  // namespace gauze::internal::parquet
