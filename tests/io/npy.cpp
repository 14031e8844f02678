// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// io/npy.hpp: round trips, every error's message, files written
// and read by NumPy itself (skipped with a word when there is none; SINTER_PYTHON names another interpreter), and
// damaged files (run it under ASan and UBSan too).
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
#include <sinter/io/npy.hpp>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

namespace {

namespace fs = std::filesystem;
using sinter::dtype;
using sinter::i64;
using sinter::npy_code;

struct folder {
  fs::path path;
  folder() {
    std::random_device seed;
    path = fs::temp_directory_path() / ("sinter-npy-" + std::to_string(seed()) + std::to_string(seed()));
    fs::create_directory(path);
  }
  folder(const folder&) = delete;
  folder& operator=(const folder&) = delete;
  ~folder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  std::string operator/(const std::string& name) const { return (path / name).string(); }
};

void write_text(const std::string& path, const std::string& text) {
  std::ofstream out(path, std::ios::binary);
  out.write(text.data(), static_cast<std::streamsize>(text.size()));
}

std::string read_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// A file with that header text and that many zero bytes of data.
std::string file_of(const std::string& header, std::size_t data, int version = 1) {
  std::string text = "\x93NUMPY";
  text += static_cast<char>(version);
  text += '\0';
  const std::size_t size = header.size();
  const int count = version == 1 ? 2 : 4;
  for (int byte = 0; byte < count; ++byte) text += static_cast<char>((size >> (8 * byte)) & 255);
  return text + header + std::string(data, '\0');
}

std::string head_of(const std::string& descr, const std::string& order, const std::string& shape) {
  return "{'descr': " + descr + ", 'fortran_order': " + order + ", 'shape': " + shape + ", }\n";
}

/// Reads a file of that text; the message must name the file and hold every one of the pieces.
void refused(const std::string& text, npy_code code, std::initializer_list<const char*> pieces) {
  const folder dir;
  const std::string path = dir / "broken.npy";
  write_text(path, text);
  const sinter::npy_result got = sinter::read_npy(path);
  CAPTURE(got.status.message());
  CHECK(!got.ok());
  CHECK(static_cast<int>(got.status.code()) == static_cast<int>(code));
  CHECK(got.status.message().find(path) != std::string::npos);
  for (const char* piece : pieces) {
    CAPTURE(piece);
    CHECK(got.status.message().find(piece) != std::string::npos);
  }
  CHECK(got.array.bytes.size() == 0);
  CHECK(got.array.shape.empty());
}

template <class Type>
void round_trip(const std::vector<i64>& shape) {
  const folder dir;
  const std::string path = dir / "array.npy";
  i64 count = 1;
  for (i64 size : shape) count *= size;
  std::vector<unsigned char> bytes(static_cast<std::size_t>(count) * sizeof(Type));
  for (std::size_t index = 0; index < bytes.size(); ++index)
    bytes[index] = static_cast<unsigned char>(sinter::dtype_of<Type> == dtype::boolean ? index % 2 : index * 37 + 11);
  const auto written = sinter::write_npy(path, reinterpret_cast<const Type*>(bytes.data()), shape);
  REQUIRE_MESSAGE(written.ok(), written.message());
  CHECK((read_text(path).size() - bytes.size()) % 64 == 0);

  const sinter::npy_result got = sinter::read_npy(path);
  REQUIRE_MESSAGE(got.ok(), got.status.message());
  CHECK(got.array.shape == shape);
  CHECK((got.array.type == sinter::dtype_of<Type>));
  CHECK(got.array.size() == count);
  CHECK(got.array.path == path);
  REQUIRE(got.array.bytes.size() == bytes.size());
  CHECK((bytes.empty() || std::memcmp(got.array.bytes.data(), bytes.data(), bytes.size()) == 0));
  CHECK(got.array.template data<Type>() != nullptr);
  CHECK(reinterpret_cast<std::uintptr_t>(got.array.bytes.data()) % 64 == 0);
}

TEST_CASE("every type comes back") {
  for (const std::vector<i64>& shape : {std::vector<i64>{}, {1}, {7}, {2, 3}, {2, 0, 4}, {1, 2, 3, 4, 5}}) {
    round_trip<bool>(shape);
    round_trip<sinter::i8>(shape);
    round_trip<sinter::i16>(shape);
    round_trip<sinter::i32>(shape);
    round_trip<sinter::i64>(shape);
    round_trip<sinter::u8>(shape);
    round_trip<sinter::u16>(shape);
    round_trip<sinter::u32>(shape);
    round_trip<sinter::u64>(shape);
    round_trip<sinter::f16>(shape);
    round_trip<float>(shape);
    round_trip<double>(shape);
  }
}

TEST_CASE("a typed pointer and sizes, or a message") {
  const folder dir;
  const float values[6] = {0, 1, 2, 3, 4, 5};
  REQUIRE(sinter::write_npy(dir / "a.npy", values, {2, 3}).ok());
  sinter::npy_result got = sinter::read_npy(dir / "a.npy");
  REQUIRE(got.ok());
  const auto span = sinter::npy_as<float, 2>(got.array);
  REQUIRE(span.ok());
  CHECK(span.sizes[0] == 2);
  CHECK(span.sizes[1] == 3);
  CHECK(span.pointer[5] == 5.0f);

  const auto other = sinter::npy_as<double, 2>(got.array);
  CHECK((other.status.code() == npy_code::wrong_type));
  CHECK(other.pointer == nullptr);
  CHECK(other.status.message().find("a.npy': has dtype f32, but f64 was expected") != std::string::npos);
  CHECK(other.status.message().find("array.astype('<f8')") != std::string::npos);
  const auto flat = sinter::npy_as<float, 1>(got.array);
  CHECK((flat.status.code() == npy_code::wrong_shape));
  CHECK(flat.status.message().find("has 2 axes, shape (2, 3), but 1 were expected") != std::string::npos);
  CHECK(got.array.data<double>() == nullptr);

  const sinter::npy_result& fixed = got;
  const sinter::npy_span<const float, 2> borrowed = sinter::npy_as<float, 2>(fixed.array);
  REQUIRE(borrowed.ok());
  CHECK(borrowed.pointer == span.pointer);
  sinter::npy_result none = sinter::read_npy(dir / "none.npy");
  CHECK(!sinter::npy_as<float, 0>(none.array).ok());  // not an empty array, nor a number
}

TEST_CASE("headers that other programs write") {
  const folder dir;
  const std::string path = dir / "a.npy";
  const auto shape_of = [&](const std::string& text) {
    write_text(path, text);
    const sinter::npy_result got = sinter::read_npy(path);
    CHECK_MESSAGE(got.ok(), got.status.message());
    return got.array.shape;
  };
  CHECK(shape_of(file_of("{'descr':'<f4','fortran_order':False,'shape':(2,3)}", 24)) == std::vector<i64>{2, 3});
  CHECK(shape_of(file_of("  {\"shape\" : (3 ,) , \"descr\" : \"<i2\", \"fortran_order\" : False}  \n", 6)) ==
        std::vector<i64>{3});
  CHECK(shape_of(file_of("{'descr': '<f4', 'fortran_order': False, 'shape': (2L, 3L), }", 24)) ==
        std::vector<i64>{2, 3});
  CHECK(shape_of(file_of("{'descr': '<f4', 'fortran_order': False, 'shape': (), }", 4, 2)).empty());
  CHECK(shape_of(file_of(head_of("'<f8'", "False", "(2,)"), 16, 3)) == std::vector<i64>{2});
  CHECK(shape_of(file_of(head_of("'<f4'", "True", "(1, 3, 1)"), 12)) ==
        std::vector<i64>{1, 3, 1});                                                       // both orders at once
  CHECK(shape_of(file_of(head_of("'>u1'", "False", "(3,)"), 3)) == std::vector<i64>{3});  // one byte has no order
  CHECK(shape_of(file_of(head_of("'<f4'", "False", "(0, 5)"), 0)) == std::vector<i64>{0, 5});

  std::string text = file_of(head_of("'|b1'", "False", "(3,)"), 0) + std::string("\x00\x02\xff", 3);
  write_text(path, text);
  const sinter::npy_result got = sinter::read_npy(path);
  REQUIRE(got.ok());
  CHECK(got.array.bytes.data()[0] == 0);
  CHECK(got.array.bytes.data()[1] == 1);
  CHECK(got.array.bytes.data()[2] == 1);
}

TEST_CASE("what is refused, and how it is said") {
  const std::string good = head_of("'<f4'", "False", "(2, 3)");
  refused("", npy_code::not_npy, {"is empty", "numpy.save"});
  refused("hello", npy_code::not_npy, {"is not a .npy file", "numpy.save"});
  refused("hello, this is a text", npy_code::not_npy, {"is not a .npy file"});
  refused("PK\3\4 and so on", npy_code::not_npy, {".npz archive", "unzip"});
  refused("\x93NUMPY", npy_code::truncated, {"is truncated", "expected at least 10 bytes", "found 6"});
  refused(file_of("", 0, 2).substr(0, 11), npy_code::truncated, {"expected at least 12 bytes", "found 11"});
  refused(file_of(good, 24, 4), npy_code::not_npy, {"version 4.0", "1.0, 2.0 and 3.0"});
  refused(file_of(good, 24).substr(0, 40), npy_code::truncated, {"end of the header, found 40"});
  refused(file_of(good, 23), npy_code::truncated, {"shape (2, 3) of f32 needs 24 bytes", "found 23"});
  refused(file_of(good, 0), npy_code::truncated, {"needs 24 bytes of data, found 0"});
  refused(file_of(good, 25), npy_code::trailing_bytes, {"1 bytes after its data", "one array per file"});
  refused(file_of(head_of("'<f4'", "True", "(2, 3)"), 24), npy_code::column_major,
          {"Fortran-ordered", "numpy.ascontiguousarray"});
  refused(file_of(head_of("'>f4'", "False", "(2, 3)"), 24), npy_code::big_endian,
          {"big-endian (dtype '>f4')", "array.astype('<f4')"});
  refused(file_of(head_of("'|O'", "False", "(2,)"), 24), npy_code::unsupported_type,
          {"Python objects", "array.astype"});
  refused(file_of(head_of("'<c8'", "False", "(2,)"), 16), npy_code::unsupported_type, {"complex", "array.real"});
  refused(file_of(head_of("'<U5'", "False", "(2,)"), 40), npy_code::unsupported_type, {"dtype '<U5'", "supported: f2"});
  refused(file_of(head_of("'<M8[ns]'", "False", "(2,)"), 16), npy_code::unsupported_type, {"'<M8[ns]'"});
  refused(file_of(head_of("'<V2'", "False", "(2,)"), 4), npy_code::unsupported_type, {"bfloat16", "view('uint16')"});
  refused(file_of(head_of("'f4'", "False", "(2,)"), 8), npy_code::unsupported_type, {"dtype 'f4'"});
  refused(file_of(head_of("''", "False", "(2,)"), 8), npy_code::unsupported_type, {"dtype ''"});
  refused(file_of(head_of("'|f4'", "False", "(2,)"), 8), npy_code::unsupported_type, {"dtype '|f4'"});
  refused(file_of(head_of("[('a', '<f4'), ('b', '<i4', (2,))]", "False", "(2,)"), 24), npy_code::unsupported_type,
          {"structured"});
  const std::string huge = "9223372036854775807";
  for (const std::string& shape :
       {"(" + huge + ",)", "(" + huge + "0,)", std::string("(4294967296, 4294967296)"), "(0, " + huge + ")"})
    refused(file_of(head_of("'<f4'", "False", shape), 8), npy_code::bad_shape, {"absurd shape"});
  std::string many = "(";
  for (int axis = 0; axis < 65; ++axis) many += "1, ";
  refused(file_of(head_of("'<f4'", "False", many + ")"), 4), npy_code::bad_shape, {"64 axes"});
  refused(file_of(head_of("'|u1'", "False", "(" + huge + ",)"), 8), npy_code::truncated, {"needs ", "found 8"});
  refused(file_of(good + std::string(70000, ' '), 24, 2), npy_code::bad_header, {"header too long", "65535"});
  refused(std::string("\x93NUMPY\x02\0\xff\xff\xff\xff{}", 14), npy_code::bad_header, {"header too long (4294967295"});
}

TEST_CASE("malformed headers") {
  for (const char* header : {"",
                             "{",
                             "}",
                             "{}",
                             "[]",
                             "None",
                             "{'descr': '<f4'}",
                             "{'descr': '<f4', 'fortran_order': False}",
                             "{'shape': (2,), 'fortran_order': False}",
                             "{'descr': '<f4', 'fortran_order': 0, 'shape': (2,)}",
                             "{'descr': '<f4', 'fortran_order': False, 'shape': (2)}",
                             "{'descr': '<f4', 'fortran_order': False, 'shape': [2]}",
                             "{'descr': '<f4', 'fortran_order': False, 'shape': (-2,)}",
                             "{'descr': '<f4', 'fortran_order': False, 'shape': (2.0,)}",
                             "{'descr': '<f4', 'fortran_order': False, 'shape': (2 3)}",
                             "{'descr': '<f4', 'fortran_order': False, 'shape': (,)}",
                             "{'descr': '<f4', 'fortran_order': False, 'shape': (2,,)}",
                             "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'extra': 1}",
                             "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2,)}",
                             "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)} x",
                             "{'descr': '<f4' 'fortran_order': False, 'shape': (2,)}",
                             "{'descr': '<f4, 'fortran_order': False, 'shape': (2,)}",
                             "{'descr': '\\x3cf4', 'fortran_order': False, 'shape': (2,)}",
                             "{'descr': [('a', '<f4', 'fortran_order': False, 'shape': (2,)}",
                             "{descr: '<f4', 'fortran_order': False, 'shape': (2,)}",
                             "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)",
                             "{'descr': '<f4', 'fortran_order': False, 'shape': (__import__('os'),)}"}) {
    CAPTURE(header);
    refused(file_of(header, 8), npy_code::bad_header, {"malformed header", "expected"});
  }
}

TEST_CASE("a missing file, a directory, a pipe") {
  const folder dir;
  const sinter::npy_result missing = sinter::read_npy(dir / "none.npy");
  CHECK((missing.status.code() == npy_code::cannot_open));
  CHECK(missing.status.message().find("none.npy': cannot be opened: No such file") != std::string::npos);
  const sinter::npy_result directory = sinter::read_npy(dir.path.string());
  CHECK((directory.status.code() == npy_code::cannot_open));
}

TEST_CASE("a failed write changes nothing and leaves nothing") {
  const folder dir;
  const std::string path = dir / "a.npy";
  const float values[2] = {1, 2};
  REQUIRE(sinter::write_npy(path, values, {2}).ok());
  const std::string before = read_text(path);

  CHECK((sinter::write_npy(path, values, {-1}).code() == npy_code::bad_shape));
  CHECK((sinter::write_npy(path, values, {i64{1} << 62, 4}).code() == npy_code::bad_shape));
  CHECK((sinter::write_npy<float>(path, nullptr, {2}).code() == npy_code::cannot_write));
  CHECK((sinter::write_npy(path, values, std::vector<i64>(65, 1)).code() == npy_code::bad_shape));
  const sinter::bf16 brain[2] = {};
  CHECK((sinter::write_npy(path, brain, {2}).code() == npy_code::unsupported_type));
  CHECK(read_text(path) == before);

  const sinter::npy_status nowhere = sinter::write_npy(dir / "no/such/a.npy", values, {2});
  CHECK((nowhere.code() == npy_code::cannot_write));
  CHECK(nowhere.message().find("No such file or directory") != std::string::npos);
  fs::create_directory(dir / "taken.npy");
  CHECK((sinter::write_npy(dir / "taken.npy", values, {2}).code() == npy_code::cannot_write));
  int entries = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator(dir.path)) ++entries;
  CHECK(entries == 2);  // no temporary file is left

  if (fs::exists("/dev/full")) {
    fs::create_symlink("/dev/full", dir / "a.npy.tmp0");  // exclusive creation must not follow it
    CHECK(sinter::write_npy(path, values, {1}).ok());
    CHECK(sinter::read_npy(path).array.shape == std::vector<i64>{1});
  }
  CHECK(sinter::write_npy<float>(dir / "empty.npy", nullptr, {0, 3}).ok());
  CHECK(sinter::read_npy(dir / "empty.npy").array.shape == std::vector<i64>{0, 3});
}

TEST_CASE("damaged files end in a status or in an array that is whole") {
  const folder dir;
  const std::string path = dir / "damaged.npy";
  std::mt19937 random(12345);
  const std::string sources[] = {file_of(head_of("'<f4'", "False", "(2, 3)"), 24),
                                 file_of(head_of("'|b1'", "False", "(7,)"), 7, 2),
                                 file_of(head_of("[('a', '<f4')]", "False", "(2,)"), 8, 3)};
  for (int round = 0; round < 6000; ++round) {
    std::string text = sources[random() % 3];
    const unsigned edits = 1 + random() % 4;
    for (unsigned edit = 0; edit < edits && !text.empty(); ++edit) {
      const std::size_t at = random() % text.size();
      switch (random() % 5) {
        case 0: text[at] = static_cast<char>(random()); break;
        case 1: text.resize(at); break;
        case 2: text.insert(at, 1, "'(){}[],:0123456789 L\n\\"[random() % 24]); break;
        case 3: text.erase(at, 1 + random() % 9); break;
        default: text[at] = "'(){}[],:0123456789 L\n\\"[random() % 24]; break;
      }
    }
    write_text(path, text);
    const sinter::npy_result got = sinter::read_npy(path);
    if (!got.ok()) {
      CHECK(got.status.message().find(path) != std::string::npos);
      continue;
    }
    i64 bytes = static_cast<i64>(sinter::dtype_size(got.array.type));
    for (i64 size : got.array.shape) bytes *= size;
    CHECK(static_cast<i64>(got.array.bytes.size()) == bytes);
    unsigned sum = 0;
    for (i64 index = 0; index < bytes; ++index) sum += got.array.bytes.data()[index];
    CHECK(sum < 256u * 4096u);
  }
}

TEST_CASE("NumPy writes, we read; we write, NumPy reads") {
  const char* chosen = std::getenv("SINTER_PYTHON");
  const std::string python = chosen ? chosen : "python3";
  if (std::system((python + " -c 'import numpy' > /dev/null 2>&1").c_str()) != 0) {
    MESSAGE("skipped: " << python << " has no numpy (set SINTER_PYTHON to one that has)");
    return;
  }
  const folder dir;
  write_text(dir / "make.py", R"(
import numpy, sys
folder = sys.argv[1] + '/'
save = lambda name, array: numpy.save(folder + name + '.npy', array)
for code in 'f2 f4 f8 i1 i2 i4 i8 u1 u2 u4 u8 b1'.split():
    save(code, (numpy.arange(6).reshape(2, 3) % (2 if code == 'b1' else 7)).astype(code))
save('rank0', numpy.float32(7))
save('empty', numpy.zeros((2, 0, 4), 'f4'))
save('fortran', numpy.asfortranarray(numpy.zeros((2, 3), 'f4')))
save('big', numpy.zeros(3, '>i4'))
save('text', numpy.array(['a', 'b']))
save('complex', numpy.zeros(3, 'c8'))
save('fields', numpy.zeros(3, [('a', 'f4'), ('b', 'i4', (2,))]))
numpy.save(folder + 'objects.npy', numpy.array([1, 'a'], object), allow_pickle=True)
for version in (1, 2, 3):
    with open(folder + 'version%d.npy' % version, 'wb') as out:
        numpy.lib.format.write_array(out, numpy.arange(5, dtype='f4'), version=(version, 0))
)");
  REQUIRE(std::system((python + " " + dir / "make.py" + " " + dir.path.string()).c_str()) == 0);

  const char* names[] = {"f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "b1"};
  for (const char* name : names) {
    const std::string path = dir / (std::string(name) + ".npy");
    const sinter::npy_result got = sinter::read_npy(path);
    REQUIRE_MESSAGE(got.ok(), got.status.message());
    CHECK(got.array.shape == std::vector<i64>{2, 3});
    CHECK(std::string(sinter::npy_detail::type_code(got.array.type)).substr(1) == name);
    // What we write is what NumPy wrote, to the byte.
    REQUIRE(
        sinter::write_npy(dir / "again.npy", got.array.type, got.array.shape.data(), 2, got.array.bytes.data()).ok());
    CHECK(read_text(dir / "again.npy") == read_text(path));
  }
  CHECK(sinter::read_npy(dir / "f4.npy").array.data<float>()[4] == 4.0f);
  CHECK(sinter::read_npy(dir / "i8.npy").array.data<i64>()[5] == 5);
  const sinter::npy_result rank0 = sinter::read_npy(dir / "rank0.npy");
  REQUIRE(rank0.ok());
  CHECK(rank0.array.rank() == 0);
  CHECK(rank0.array.data<float>()[0] == 7.0f);
  CHECK(sinter::read_npy(dir / "empty.npy").array.shape == std::vector<i64>{2, 0, 4});
  for (const char* name : {"version1.npy", "version2.npy", "version3.npy"})
    CHECK(sinter::read_npy(dir / name).array.shape == std::vector<i64>{5});
  CHECK((sinter::read_npy(dir / "fortran.npy").status.code() == npy_code::column_major));
  CHECK((sinter::read_npy(dir / "big.npy").status.code() == npy_code::big_endian));
  for (const char* name : {"text.npy", "complex.npy", "fields.npy", "objects.npy"})
    CHECK((sinter::read_npy(dir / name).status.code() == npy_code::unsupported_type));
}

}  // namespace
