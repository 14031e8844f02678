// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads and writes NumPy's .npy files (format versions 1.0, 2.0
// and 3.0): one dense, row-major, little-endian array of a plain number type, read into memory that the result owns and
// lent to tensor views. Not here: .npz archives, structured, string or object arrays, memory mapping, and element
// conversion (read the stored type, then `cast` in a formula).
//
//     sinter::npy_result file = sinter::read_npy("x.npy");
//     if (!file.ok()) return report(file.status.message());
//     const auto x = sinter::npy_as<float, 2>(file.array);          // pointer and sizes, or a status
//     if (!x.ok()) return report(x.status.message());
//     sinter::tensor_view<float, sinter::extents<sinter::dyn, 4096>> view(x.pointer, x.sizes[0]);
//     sinter::npy_status done = sinter::write_npy("y.npy", y.data(), {rows, 4096});
//
// Nothing here throws by itself: every failure is a status whose message names the file, what is wrong with it and what
// to do. No size from a header is believed before it was compared with the size of the file. A write is atomic: the
// data goes to a temporary file beside the target, which is renamed onto it when everything is on the disk, so that an
// error leaves the old file as it was. (A symbolic link at the target is replaced, not followed.)
#pragma once

#include "../scalar.hpp"

#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#if defined(__unix__) || defined(__APPLE__)
#include <unistd.h>
#endif

#if SINTER_NVCC  // nvcc takes the assignment of a [[nodiscard]] class for a dropped one
#pragma nv_diagnostic push
#pragma nv_diag_suppress 2810
#endif
// (An inline namespace for each instruction set: the linker keeps one copy of a function, which may hold another file's instructions.)
namespace sinter {
inline namespace SINTER_ISA {

static_assert(std::endian::native == std::endian::little, "[SINTER-B003] io/npy.hpp needs a little-endian machine");

/// What went wrong, for programs; `npy_status::message()` says it to people.
enum class npy_code : unsigned char {
  ok,
  cannot_open,     ///< missing, not readable, a directory
  not_npy,         ///< no \x93NUMPY at the beginning, or a version that isn't 1.0, 2.0, 3.0
  truncated,       ///< fewer bytes than the header promises
  trailing_bytes,  ///< more bytes than the header promises
  bad_header,      ///< the header isn't the dict literal that the format defines, or too long
  bad_shape,       ///< negative, more than 64 axes, or more bytes than 63 bits count
  column_major,    ///< fortran_order: True
  big_endian,
  unsupported_type,  ///< objects, strings, structures, complex, dates, ...
  wrong_type,        ///< a supported type, but not the one asked for
  wrong_shape,       ///< not the shape asked for
  out_of_memory,
  cannot_write,
};

/// Outcome of reading or writing: a code and a message.
class [[nodiscard]] npy_status {
 public:
  npy_status() = default;
  npy_status(npy_code code, std::string message) : code_(code), message_(std::move(message)) {}

  bool ok() const { return code_ == npy_code::ok; }
  explicit operator bool() const { return ok(); }
  npy_code code() const { return code_; }
  const std::string& message() const { return message_; }

 private:
  npy_code code_ = npy_code::ok;
  std::string message_;
};

/// Bytes on a 64-byte boundary, so that a vector load of the first element is aligned; movable, not copyable.
class npy_bytes {
 public:
  npy_bytes() = default;
  npy_bytes(npy_bytes&& other) noexcept : data_(other.data_), size_(other.size_) { other.forget(); }
  npy_bytes& operator=(npy_bytes&& other) noexcept {
    if (this != &other) {
      release();
      data_ = other.data_;
      size_ = other.size_;
      other.forget();
    }
    return *this;
  }
  npy_bytes(const npy_bytes&) = delete;
  npy_bytes& operator=(const npy_bytes&) = delete;
  ~npy_bytes() { release(); }

  /// False, and empty, when there is no such amount of memory.
  bool allocate(std::size_t count) {
    release();
    forget();
    data_ = static_cast<unsigned char*>(::operator new(count ? count : 1, alignment, std::nothrow));
    size_ = data_ ? count : 0;
    return data_ != nullptr;
  }
  unsigned char* data() { return data_; }
  const unsigned char* data() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  static constexpr std::align_val_t alignment{64};
  void release() {
    if (data_) ::operator delete(data_, alignment);
  }
  void forget() {
    data_ = nullptr;
    size_ = 0;
  }

  unsigned char* data_ = nullptr;
  std::size_t size_ = 0;
};

/// An array as the file holds it: row-major, no gaps.
struct npy_array {
  dtype type = dtype::f32;
  std::vector<i64> shape;  ///< empty: one number (rank 0)
  npy_bytes bytes;
  std::string path;  ///< where it was read from, for later messages

  i64 rank() const { return static_cast<i64>(shape.size()); }
  i64 size() const { return static_cast<i64>(bytes.size() / static_cast<std::size_t>(dtype_size(type))); }

  /// The elements, or null when Type isn't the stored type.
  template <class Type>
  Type* data() {
    return dtype_of<Type> == type ? reinterpret_cast<Type*>(bytes.data()) : nullptr;
  }
  template <class Type>
  const Type* data() const {
    return dtype_of<Type> == type ? reinterpret_cast<const Type*>(bytes.data()) : nullptr;
  }
};

struct [[nodiscard]] npy_result {
  npy_status status;
  npy_array array;
  bool ok() const { return status.ok(); }
};

/// Elements of a known type and rank: what `tensor_view<Type, extents<...>>(pointer, sizes...)` is made from. It
/// borrows from the array, which must live longer.
template <class Type, int Rank>
struct npy_span {
  Type* pointer = nullptr;
  i64 sizes[unsigned(Rank ? Rank : 1)] = {};
  npy_status status;
  bool ok() const { return status.ok(); }
};

namespace npy_detail {

inline constexpr unsigned char magic[6] = {0x93, 'N', 'U', 'M', 'P', 'Y'};
inline constexpr i64 max_header = 65535;  // what version 1.0 can say; NumPy itself stops at 10000 unless told otherwise
inline constexpr std::size_t max_rank = 64;

inline npy_status fail(npy_code code, const std::string& path, const std::string& what) {
  return {code, "npy: '" + path + "': " + what};
}

inline std::string shape_text(const i64* sizes, std::size_t rank) {
  std::string text = "(";
  for (std::size_t axis = 0; axis < rank; ++axis) text += (axis ? ", " : "") + std::to_string(sizes[axis]);
  return text + (rank == 1 ? ",)" : ")");
}

/// The stored name of a type, as NumPy writes it; null for bf16, which NumPy has no name for.
inline const char* type_code(dtype type) {
  switch (type) {
    case dtype::boolean: return "|b1";
    case dtype::i8: return "|i1";
    case dtype::i16: return "<i2";
    case dtype::i32: return "<i4";
    case dtype::i64: return "<i8";
    case dtype::u8: return "|u1";
    case dtype::u16: return "<u2";
    case dtype::u32: return "<u4";
    case dtype::u64: return "<u8";
    case dtype::f16: return "<f2";
    case dtype::f32: return "<f4";
    case dtype::f64: return "<f8";
    default: return nullptr;
  }
}

/// Number of bytes of an array of that shape, or -1 when 63 bits can't count it. Empty axes don't excuse absurd ones:
/// NumPy refuses those arrays too.
inline i64 byte_count(const i64* sizes, std::size_t rank, dtype type) {
  i64 bytes = static_cast<i64>(dtype_size(type));
  bool empty = false;
  for (std::size_t axis = 0; axis < rank; ++axis) {
    if (sizes[axis] < 0) return -1;
    if (sizes[axis] == 0) {
      empty = true;
      continue;
    }
    if (bytes > INT64_MAX / sizes[axis]) return -1;
    bytes *= sizes[axis];
  }
  return empty ? 0 : bytes;
}

struct header {
  std::string descr;
  bool descr_is_list = false;  // a structured type
  bool fortran_order = false;
  std::vector<i64> shape;
  bool shape_overflows = false;
};

/// The header is a Python dict literal with exactly the keys descr, fortran_order and shape. Nothing else of Python is
/// read.
class header_parser {
 public:
  explicit header_parser(std::string_view text) : rest_(text) {}

  /// Empty when all is well, else what was expected.
  const char* parse(header& out) {
    bool seen_descr = false, seen_order = false, seen_shape = false;
    if (!take('{')) return "a dict '{...}'";
    while (!take('}')) {
      std::string key;
      if (!quoted(key)) return "a quoted key";
      if (!take(':')) return "':' after a key";
      bool* seen = key == "descr"           ? &seen_descr
                   : key == "fortran_order" ? &seen_order
                   : key == "shape"         ? &seen_shape
                                            : nullptr;
      if (!seen) return "only the keys 'descr', 'fortran_order' and 'shape'";
      if (*seen) return "every key once";
      *seen = true;
      if (seen == &seen_descr) {
        skip();
        if (!rest_.empty() && rest_.front() == '[') {
          out.descr_is_list = true;
          if (!skip_list()) return "a closed list of fields";
        } else if (!quoted(out.descr)) {
          return "a quoted type after 'descr'";
        }
      } else if (seen == &seen_order) {
        if (word("True"))
          out.fortran_order = true;
        else if (!word("False"))
          return "True or False after 'fortran_order'";
      } else if (const char* expected = tuple(out)) {
        return expected;
      }
      if (!take(',')) {
        if (!take('}')) return "',' or '}' after a value";
        break;
      }
    }
    skip();
    if (!rest_.empty()) return "nothing but blanks after the dict";
    if (!seen_descr || !seen_order || !seen_shape) return "the keys 'descr', 'fortran_order' and 'shape'";
    return nullptr;
  }

 private:
  void skip() {
    while (!rest_.empty() &&
           (rest_.front() == ' ' || rest_.front() == '\n' || rest_.front() == '\t' || rest_.front() == '\r'))
      rest_.remove_prefix(1);
  }
  bool take(char wanted) {
    skip();
    if (rest_.empty() || rest_.front() != wanted) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool word(std::string_view wanted) {
    skip();
    if (rest_.substr(0, wanted.size()) != wanted) return false;
    rest_.remove_prefix(wanted.size());
    return true;
  }
  bool quoted(std::string& out) {
    skip();
    if (rest_.empty() || (rest_.front() != '\'' && rest_.front() != '"')) return false;
    const std::size_t end = rest_.find(rest_.front(), 1);
    if (end == std::string_view::npos) return false;
    out.assign(rest_.substr(1, end - 1));
    rest_.remove_prefix(end + 1);
    return out.find('\\') == std::string::npos;
  }
  bool skip_list() {  // only to reach the other keys: the array is refused anyway
    int depth = 0;
    do {
      skip();
      if (rest_.empty()) return false;
      const char next = rest_.front();
      if (next == '\'' || next == '"') {
        std::string ignored;
        if (!quoted(ignored)) return false;
        continue;
      }
      depth += next == '[' || next == '(' ? 1 : next == ']' || next == ')' ? -1 : 0;
      rest_.remove_prefix(1);
    } while (depth > 0);
    return true;
  }
  const char* tuple(header& out) {
    if (!take('(')) return "a tuple '(...)' after 'shape'";
    bool comma = false;
    while (!take(')')) {
      if (!out.shape.empty() && !comma) return "',' between sizes";
      skip();
      if (rest_.empty() || rest_.front() < '0' || rest_.front() > '9')
        return "sizes that are whole numbers, not negative";
      i64 size = 0;
      while (!rest_.empty() && rest_.front() >= '0' && rest_.front() <= '9') {
        const i64 digit = rest_.front() - '0';
        if (size > (INT64_MAX - digit) / 10)
          out.shape_overflows = true;
        else
          size = size * 10 + digit;
        rest_.remove_prefix(1);
      }
      if (!rest_.empty() && rest_.front() == 'L') rest_.remove_prefix(1);  // Python 2 wrote 3L
      if (out.shape.size() < max_rank)
        out.shape.push_back(size);
      else
        out.shape_overflows = true;
      comma = take(',');
    }
    if (out.shape.size() == 1 && !comma) return "a comma in a tuple of one size, as in (3,)";
    return nullptr;
  }

  std::string_view rest_;
};

inline bool type_from_code(std::string_view code, dtype& out) {
  for (dtype type : {dtype::boolean, dtype::i8, dtype::i16, dtype::i32, dtype::i64, dtype::u8, dtype::u16, dtype::u32,
                     dtype::u64, dtype::f16, dtype::f32, dtype::f64})
    if (code == type_code(type) + 1) {
      out = type;
      return true;
    }
  return false;
}

/// Finds the type of a header's code, byte-order mark included, or says in `what` why it isn't one of ours.
inline npy_code type_of_header(const header& head, dtype& out, std::string& what) {
  const std::string supported = " (supported: f2 f4 f8 i1 i2 i4 i8 u1 u2 u4 u8 b1, little-endian)";
  const std::string& code = head.descr;
  const char order = code.empty() ? '?' : code[0];
  const std::string bare = code.substr(code.empty() ? 0 : 1);
  const bool one_byte = bare.size() == 2 && bare[1] == '1';
  if ((order == '<' || order == '|' || order == '>' || order == '=') && type_from_code(bare, out)) {
    if (order == '<' || order == '=' || one_byte) return npy_code::ok;
    if (order == '>') {
      what = "is big-endian (dtype '" + code + "'); save it with array.astype('<" + bare + "')";
      return npy_code::big_endian;
    }
  }
  if (head.descr_is_list)
    what = "holds a structured array; save one field, numpy.save(path, array['field'])";
  else if (!bare.empty() && bare[0] == 'O')
    what = "holds Python objects (dtype '" + code + "'); save numbers, numpy.save(path, array.astype('float32'))";
  else if (!bare.empty() && bare[0] == 'c')
    what = "is complex (dtype '" + code + "'); save array.real and array.imag apart";
  else if (bare == "V2")
    what = "has dtype '" + code + "' (perhaps bfloat16); save its bits with array.view('uint16')";
  else
    what = "has dtype '" + code + "', which is not supported; save it with array.astype(...)";
  what += supported;
  return npy_code::unsupported_type;
}

struct file {
  std::FILE* handle = nullptr;
  file() = default;
  explicit file(std::FILE* opened) : handle(opened) {}
  file(const file&) = delete;
  file& operator=(const file&) = delete;
  ~file() { close(); }
  bool close() {
    std::FILE* const open = std::exchange(handle, nullptr);
    return !open || std::fclose(open) == 0;
  }
};

inline std::string reason() { return errno ? std::strerror(errno) : "unknown error"; }

/// Total size, with the position back at `from`; -1 when the file can't tell (a pipe).
inline i64 file_size(std::FILE* handle, long from) {
  if (std::fseek(handle, 0, SEEK_END) != 0) return -1;
  const long size = std::ftell(handle);
  if (size < 0 || std::fseek(handle, from, SEEK_SET) != 0) return -1;
  return size;
}

}  // namespace npy_detail

/// Reads a whole .npy file. On failure the array is empty and the status says why.
inline npy_result read_npy(const std::string& path) {
  using namespace npy_detail;
  npy_result result;
  const auto failed = [&](npy_code code, const std::string& what) {
    result.status = fail(code, path, what);
    result.array = npy_array{};
    return std::move(result);
  };

  errno = 0;
  const file in(std::fopen(path.c_str(), "rb"));
  if (!in.handle)
    return failed(npy_code::cannot_open, "cannot be opened: " + reason() + "; check the path and its permissions");

  unsigned char fixed[12] = {};
  const std::size_t got = std::fread(fixed, 1, sizeof fixed, in.handle);
  if (got < sizeof fixed && std::ferror(in.handle))
    return failed(npy_code::cannot_open, "cannot be read: " + reason() + "; give the path of a regular file");
  if (got < 6 || std::memcmp(fixed, magic, 6) != 0) {
    const bool zip = got >= 4 && std::memcmp(fixed, "PK\3\4", 4) == 0;
    return failed(npy_code::not_npy,
                  zip        ? "is an .npz archive, not a .npy file; unzip it and read the .npy files in it"
                  : got == 0 ? "is empty, not a .npy file; write it again with numpy.save"
                             : "is not a .npy file (it doesn't begin with \\x93NUMPY); write it with numpy.save");
  }
  const i64 total = file_size(in.handle, 0);
  if (total < 0) return failed(npy_code::cannot_open, "cannot tell its size; copy it to a regular file first");
  if (got < 10)
    return failed(npy_code::truncated, "is truncated: expected at least 10 bytes of header, found " +
                                           std::to_string(got) + "; copy or write it again");
  const int version = fixed[6];
  if (version < 1 || version > 3 || fixed[7] != 0)
    return failed(npy_code::not_npy, "has .npy format version " + std::to_string(version) + "." +
                                         std::to_string(fixed[7]) +
                                         ", but only 1.0, 2.0 and 3.0 are known; write it with numpy.save");
  const int prefix = version == 1 ? 10 : 12;
  if (got < static_cast<std::size_t>(prefix))
    return failed(npy_code::truncated, "is truncated: expected at least 12 bytes of header, found " +
                                           std::to_string(got) + "; copy or write it again");
  i64 header_size = fixed[8] + 256 * fixed[9];
  if (version > 1) header_size += (i64{fixed[11]} << 24) + (i64{fixed[10]} << 16);
  if (header_size > max_header)
    return failed(npy_code::bad_header, "has a header too long (" + std::to_string(header_size) + " bytes, at most " +
                                            std::to_string(max_header) + " are read); save a plain array of numbers");
  if (total < prefix + header_size)
    return failed(npy_code::truncated, "is truncated: expected " + std::to_string(prefix + header_size) +
                                           " bytes up to the end of the header, found " + std::to_string(total) +
                                           "; copy or write it again");

  std::string text(static_cast<std::size_t>(header_size), '\0');
  if (std::fseek(in.handle, prefix, SEEK_SET) != 0 || std::fread(text.data(), 1, text.size(), in.handle) != text.size())
    return failed(npy_code::cannot_open, "cannot be read: " + reason() + "; read it again");
  header head;
  if (const char* expected = header_parser(text).parse(head))
    return failed(npy_code::bad_header,
                  "has a malformed header (expected " + std::string(expected) + "); write it with numpy.save");

  npy_array& array = result.array;
  std::string what;
  if (const npy_code code = type_of_header(head, array.type, what); code != npy_code::ok) return failed(code, what);
  const i64 bytes = head.shape_overflows ? -1 : byte_count(head.shape.data(), head.shape.size(), array.type);
  if (bytes < 0)
    return failed(npy_code::bad_shape,
                  "has an absurd shape (more than 64 axes, or more bytes than 63 bits count); the file is "
                  "damaged, or split the array");
  if (head.fortran_order) {
    std::size_t long_axes = 0;  // with one at most, both orders are the same
    for (i64 size : head.shape) long_axes += size != 1;
    if (long_axes > 1 && bytes > 0)
      return failed(npy_code::column_major,
                    "is Fortran-ordered (column-major); save it with numpy.save(path, numpy.ascontiguousarray(array))");
  }
  const i64 found = total - prefix - header_size;
  if (found < bytes)
    return failed(npy_code::truncated, "is truncated: shape " + shape_text(head.shape.data(), head.shape.size()) +
                                           " of " + dtype_name(array.type) + " needs " + std::to_string(bytes) +
                                           " bytes of data, found " + std::to_string(found) +
                                           "; copy or write it again");
  if (found > bytes)
    return failed(npy_code::trailing_bytes, "has " + std::to_string(found - bytes) + " bytes after its data (" +
                                                std::to_string(bytes) + " expected, found " + std::to_string(found) +
                                                "); save one array per file");

  if (!array.bytes.allocate(static_cast<std::size_t>(bytes)))
    return failed(npy_code::out_of_memory,
                  "needs " + std::to_string(bytes) + " bytes of memory, which there are not; split the array");
  if (bytes && std::fread(array.bytes.data(), 1, array.bytes.size(), in.handle) != array.bytes.size())
    return failed(npy_code::cannot_open, "cannot be read: " + reason() + "; read it again");
  if (array.type == dtype::boolean)  // any other byte in a bool would be undefined behaviour for whoever reads it
    for (std::size_t index = 0; index < array.bytes.size(); ++index)
      array.bytes.data()[index] = array.bytes.data()[index] != 0;
  array.shape = std::move(head.shape);
  array.path = path;
  return result;
}

namespace npy_detail {
/// Compiled once, not for each type and rank: what builds a message is long.
inline npy_status check_request(const npy_array& array, dtype type, int rank) {
  const char* const code = type_code(type);
  if (!array.bytes.data())
    return fail(npy_code::cannot_open, array.path, "was not read; look at the status of read_npy first");
  if (array.type != type)
    return fail(npy_code::wrong_type, array.path,
                "has dtype " + std::string(dtype_name(array.type)) + ", but " + dtype_name(type) +
                    " was expected; save it with array.astype('" + (code ? code : "uint16") + "') or read it as " +
                    dtype_name(array.type));
  if (array.rank() != rank)
    return fail(npy_code::wrong_shape, array.path,
                "has " + std::to_string(array.rank()) + " axes, shape " +
                    shape_text(array.shape.data(), array.shape.size()) + ", but " + std::to_string(rank) +
                    " were expected; save it with array.reshape(...)");
  return {};
}
}  // namespace npy_detail

/// Borrows the elements as Type with Rank axes, or says what was expected and what was found.
template <class Type, int Rank>
npy_span<Type, Rank> npy_as(npy_array& array) {
  npy_span<Type, Rank> span;
  span.status = npy_detail::check_request(array, dtype_of<Type>, Rank);
  if (!span.ok()) return span;
  span.pointer = array.data<Type>();
  for (int axis = 0; axis < Rank; ++axis) span.sizes[axis] = array.shape[static_cast<std::size_t>(axis)];
  return span;
}
/// The same of an array that isn't to be changed.
template <class Type, int Rank>
npy_span<const Type, Rank> npy_as(const npy_array& array) {
  npy_span<const Type, Rank> span;
  span.status = npy_detail::check_request(array, dtype_of<Type>, Rank);
  if (!span.ok()) return span;
  span.pointer = array.data<Type>();
  for (int axis = 0; axis < Rank; ++axis) span.sizes[axis] = array.shape[static_cast<std::size_t>(axis)];
  return span;
}

/// Writes a row-major array without gaps, as version 1.0. `data` may be null when the array is empty.
inline npy_status write_npy(const std::string& path, dtype type, const i64* sizes, int rank, const void* data) {
  using namespace npy_detail;
  const char* const code = type_code(type);
  if (!code)
    return fail(npy_code::unsupported_type, path,
                std::string("NumPy has no type for ") + dtype_name(type) + "; write the bits as u16, or cast to f32");
  const std::size_t axes = rank < 0 ? npy_detail::max_rank + 1 : static_cast<std::size_t>(rank);
  const i64 bytes = axes > npy_detail::max_rank ? -1 : byte_count(sizes, axes, type);
  if (bytes < 0)
    return fail(
        npy_code::bad_shape, path,
        "cannot be written: an absurd shape (negative size, more than 64 axes, or more bytes than 63 bits count)");
  if (bytes > 0 && !data) return fail(npy_code::cannot_write, path, "cannot be written: the data pointer is null");

  std::string head =
      std::string("{'descr': '") + code + "', 'fortran_order': False, 'shape': " + shape_text(sizes, axes) + ", }";
  head.append(63 - (10 + head.size()) % 64, ' ');  // so that the data begins at a multiple of 64
  head += '\n';
  unsigned char fixed[10] = {magic[0], magic[1], magic[2], magic[3], magic[4], magic[5], 1, 0};
  fixed[8] = static_cast<unsigned char>(head.size() & 255);
  fixed[9] = static_cast<unsigned char>(head.size() >> 8);

  // Exclusive creation ("x"): two writers, or a leftover of a crash, never share a temporary file.
  std::string temporary;
  std::FILE* opened = nullptr;
  for (int attempt = 0; attempt < 100 && !opened; ++attempt) {
    temporary = path + ".tmp" + std::to_string(attempt);
    errno = 0;
    opened = std::fopen(temporary.c_str(), "wbx");
    if (!opened && errno != EEXIST) break;
  }
  if (!opened)
    return fail(npy_code::cannot_write, path,
                "cannot be written: '" + temporary + "' cannot be created: " + reason() +
                    "; check the directory and its permissions");
  file out(opened);
  const std::size_t size = static_cast<std::size_t>(bytes);
  errno = 0;
  bool good = std::fwrite(fixed, 1, sizeof fixed, out.handle) == sizeof fixed &&
              std::fwrite(head.data(), 1, head.size(), out.handle) == head.size() &&
              (size == 0 || std::fwrite(data, 1, size, out.handle) == size) && std::fflush(out.handle) == 0;
#if defined(__unix__) || defined(__APPLE__)
  // Without this a crash of the machine could leave the new name on an empty file. EINVAL: a file system without fsync.
  good = good && (::fsync(::fileno(out.handle)) == 0 || errno == EINVAL);
#endif
  good = out.close() && good;
  if (!good || std::rename(temporary.c_str(), path.c_str()) != 0) {
    const std::string why = reason();
    std::remove(temporary.c_str());
    return fail(
        npy_code::cannot_write, path,
        "cannot be written: " + why + "; check the disk, the path and its permissions (what was there is unchanged)");
  }
  return {};
}

/// The same, from a typed pointer.
template <class Type>
npy_status write_npy(const std::string& path, const Type* data, const std::vector<i64>& shape) {
  return write_npy(path, dtype_of<Type>, shape.data(), static_cast<int>(shape.size()), data);
}

}  // namespace SINTER_ISA
}  // namespace sinter
#if SINTER_NVCC
#pragma nv_diagnostic pop
#endif
