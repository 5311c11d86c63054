#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "json/text.h"
#include "json/write.h"
#include "tools/file_root.h"
#include "tools/limits.h"
#include "tools/tools_for_test.h"

namespace shepherd {
namespace {

namespace fs = std::filesystem;

std::string path_arguments(const std::string& path) {
  return object_text([&](JsonObject& object) { object.text("path", path); });
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

class FileTools : public ::testing::Test {
 protected:
  ToolOutcome read(const std::string& path) { return world.call("read_file", path_arguments(path)); }
  ToolOutcome write(const std::string& path, const std::string& content) {
    return world.call("write_file", object_text([&](JsonObject& object) {
                        object.text("path", path);
                        object.text("content", content);
                      }));
  }
  ToolOutcome edit(const std::string& from, const std::string& to, bool all = false) {
    return world.call("edit_file", object_text([&](JsonObject& object) {
                        object.text("path", "a.txt");
                        object.text("old_text", from);
                        object.text("new_text", to);
                        object.flag("all", all);
                      }));
  }
  ToolWorld world;
};

TEST_F(FileTools, ReadAFile) {
  world.write("notes/a.txt", "one\ntwo\nthree");
  ToolOutcome read = this->read("notes/a.txt");
  EXPECT_TRUE(read.success);
  EXPECT_EQ(read.content, "one\ntwo\nthree");
  EXPECT_EQ(read.summary, "Read 3 lines of notes/a.txt");
  EXPECT_EQ(this->read("./notes//a.txt").content, "one\ntwo\nthree");
  world.write("empty", "");
  EXPECT_EQ(this->read("empty").content, "[The file is empty.]");
}

TEST_F(FileTools, ReadSomeLines) {
  world.write("a.txt", "1\n2\n3\n4\n5\n");
  EXPECT_EQ(world.call("read_file", R"({"path":"a.txt","offset":2,"limit":2})").content,
            "2\n3\n[Lines 2 to 3 of a file of 10 bytes. Continue with offset 4.]");
  EXPECT_EQ(world.call("read_file", R"({"path":"a.txt","offset":4,"limit":2})").content, "4\n5\n");
  EXPECT_EQ(world.call("read_file", R"({"path":"a.txt","offset":"5"})").content, "5\n");
  ToolOutcome far = world.call("read_file", R"({"path":"a.txt","offset":9})");
  EXPECT_FALSE(far.success);
  EXPECT_EQ(far.content, "Error: the file has only 5 lines.");
  for (const char* bad :
       {R"({"path":"a.txt","offset":-1})", R"({"path":"a.txt","limit":0})", R"({"path":"a.txt","limit":1.5})",
        R"({"path":"a.txt","limit":"x"})", R"({"path":"a.txt","offset":[1]})"}) {
    EXPECT_FALSE(world.call("read_file", bad).success) << bad;
  }
}

TEST_F(FileTools, ReadALongFileInPartsThatMeet) {
  std::string all;
  for (int i = 1; i <= 18'000; ++i) all += "line " + std::to_string(i) + " ä\n";
  world.write("long.txt", all);
  std::string read;
  std::string offset = "1";
  int parts = 0;
  for (; !offset.empty() && parts < 50; ++parts) {
    std::string content =
        world.call("read_file", R"({"path":"long.txt","limit":100000,"offset":)" + offset + "}").content;
    EXPECT_LE(content.size(), kMaxToolResultBytes);
    std::size_t note = content.rfind("[Lines ");
    std::size_t next = content.rfind("offset ");
    offset = note == std::string::npos ? "" : content.substr(next + 7, content.rfind('.') - next - 7);
    read += content.substr(0, note);
  }
  EXPECT_EQ(read, all);
  EXPECT_GT(parts, 2);
}

TEST_F(FileTools, ReadALineWithoutAnEnd) {
  std::string line;
  while (line.size() < 3 * kMaxToolResultBytes) line += "0123ä";
  world.write("line.txt", line);
  ToolOutcome read = this->read("line.txt");
  EXPECT_TRUE(read.success);
  EXPECT_LE(read.content.size(), kMaxToolResultBytes);
  EXPECT_TRUE(is_utf8(read.content));
  EXPECT_TRUE(contains(read.content, "bytes of line 1 of a file of " + std::to_string(line.size()) + " bytes.]"))
      << read.summary;
}

TEST_F(FileTools, ReadWhatIsNoText) {
  world.write("a.bin", std::string("ab\0cd", 5));
  ToolOutcome binary = read("a.bin");
  EXPECT_FALSE(binary.success);
  EXPECT_EQ(binary.content, "Error: \"a.bin\" is a binary file of 5 bytes, which is not shown.");
  world.write("latin.txt", "caf\xE9\n");
  ToolOutcome latin = read("latin.txt");
  EXPECT_TRUE(latin.success);
  EXPECT_EQ(latin.content, "caf\xEF\xBF\xBD\n[The file is not UTF-8; \xEF\xBF\xBD stands for other bytes.]");
  world.write("bytes", std::string(100'000, '\xFF'));
  EXPECT_LE(read("bytes").content.size(), kMaxToolResultBytes);
}

TEST_F(FileTools, RefusePathsOutOfTheRoot) {
  std::ofstream(world.outside() + "/secret.txt") << "not for the model";
  fs::create_symlink(world.outside() + "/secret.txt", world.root() + "/absolute-link");
  fs::create_symlink("../secret.txt", world.root() + "/relative-link");
  fs::create_symlink("/", world.root() + "/all");
  fs::create_symlink("..", world.root() + "/up");
  fs::create_symlink("/proc/self/root", world.root() + "/magic");
  fs::create_symlink("loop", world.root() + "/loop");
  for (const char* path : {"../secret.txt", "absolute-link", "relative-link", "/etc/passwd", "all/etc/passwd",
                           "up/secret.txt", "./../files/../secret.txt", "a/../../secret.txt", "..", "magic/etc/passwd",
                           "loop", "/", "/proc/self/environ"}) {
    ToolOutcome outcome = read(path);
    EXPECT_FALSE(outcome.success) << path;
    EXPECT_FALSE(contains(outcome.content, "not for the model") || contains(outcome.content, "root:"))
        << path << outcome.content;
    EXPECT_FALSE(write(path, "changed").success) << path;
    EXPECT_FALSE(world.call("list_files", path_arguments(path)).success) << path;
  }
  EXPECT_EQ(fs::file_size(world.outside() + "/secret.txt"), std::string("not for the model").size());
  EXPECT_FALSE(write("all/tmp/tools-test-made", "x").success);
  EXPECT_FALSE(fs::exists("/tmp/tools-test-made"));
  EXPECT_FALSE(write("up/made", "x").success);
  EXPECT_FALSE(fs::exists(world.outside() + "/made"));
  EXPECT_EQ(read("/etc/passwd").content,
            "Error: \"/etc/passwd\" is absolute. Give a path relative to the directory of files.");
  EXPECT_TRUE(contains(read("a/../../x").content, "\"..\""));
}

TEST_F(FileTools, FollowLinksThatStayInside) {
  world.write("real/a.txt", "inside");
  fs::create_symlink("real", world.root() + "/link");
  EXPECT_EQ(read("link/a.txt").content, "inside");
  EXPECT_TRUE(write("link/b.txt", "new").success);
  EXPECT_EQ(world.read("real/b.txt"), "new");
  fs::create_symlink("a.txt", world.root() + "/real/a-link");
  ToolOutcome written = write("real/a-link", "other");
  EXPECT_FALSE(written.success);
  EXPECT_TRUE(contains(written.content, "symbolic link"));
  EXPECT_EQ(world.read("real/a.txt"), "inside");
}

TEST_F(FileTools, RefuseOddPathsAndFiles) {
  world.write("a.txt", "x");
  ASSERT_EQ(::mkfifo((world.root() + "/pipe").c_str(), 0600), 0);
  int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::string name = world.root() + "/socket";
  name.copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ::close(fd);
  EXPECT_EQ(read("pipe").content, "Error: \"pipe\" is not a regular file.");
  EXPECT_EQ(read("socket").content, "Error: \"socket\" is not a regular file.");
  EXPECT_TRUE(contains(read(".").content, "is a directory"));
  EXPECT_TRUE(contains(read("a.txt/b").content, "not a directory"));
  EXPECT_EQ(read("absent.txt").content, "Error: there is no \"absent.txt\".");
  EXPECT_FALSE(read(std::string("a.txt\0b", 7)).success);
  EXPECT_FALSE(read(std::string(10'000, 'x')).success);
  EXPECT_FALSE(write("pipe", "x").success);
  EXPECT_FALSE(write(".", "x").success);
  EXPECT_FALSE(write("new/", "x").success);
  EXPECT_EQ(world.call("read_file", R"({"file":3})").content, "Error: \"path\" must be given, and a text.");
  EXPECT_EQ(world.call("read_file", R"({"path":"a.txt","path":"b.txt"})").success, false);
  EXPECT_EQ(world.call("read_file", R"({"path":"a.txt","p\u0061th":"b.txt"})").success, false);
  EXPECT_FALSE(world.call("read_file", "nonsense").success);
  EXPECT_FALSE(world.call("no_such_tool", "{}").success);
}

TEST_F(FileTools, RefuseHiddenFiles) {
  world.write("data/admin.token", "secret");
  world.write("data/deep/x", "secret");
  world.write("key.pem", "secret");
  world.write("data-of-mine", "fine");
  fs::create_symlink("data", world.root() + "/link");
  world.confinement.hidden = {world.root() + "/data", world.root() + "/key.pem"};
  for (const char* path : {"data/admin.token", "data/deep/x", "key.pem", "link/admin.token"}) {
    EXPECT_EQ(read(path).success, false) << path;
    EXPECT_EQ(write(path, "x").success, false) << path;
  }
  EXPECT_FALSE(write("data/new", "x").success);
  EXPECT_FALSE(world.call("list_files", path_arguments("data")).success);
  EXPECT_EQ(read("data-of-mine").content, "fine");
  EXPECT_EQ(world.read("data/admin.token"), "secret");
}

TEST_F(FileTools, WriteAFile) {
  ToolOutcome made = write("deep/er/a.txt", "one");
  EXPECT_TRUE(made.success);
  EXPECT_EQ(made.content, "Created deep/er/a.txt (3 bytes).");
  EXPECT_EQ(world.read("deep/er/a.txt"), "one");
  fs::permissions(world.root() + "/deep/er/a.txt", fs::perms::owner_all);
  EXPECT_EQ(write("deep/er/a.txt", "").content, "Replaced deep/er/a.txt (0 bytes).");
  EXPECT_EQ(fs::status(world.root() + "/deep/er/a.txt").permissions(), fs::perms::owner_all);
  EXPECT_EQ(world.read("deep/er/a.txt"), "");
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(world.root() + "/deep/er")) names.push_back(entry.path().filename());
  EXPECT_EQ(names, std::vector<std::string>{"a.txt"}) << "a temporary file stayed";
  EXPECT_EQ(world.call("write_file", R"({"path":"b"})").content, "Error: \"content\" must be given, and a text.");
}

TEST_F(FileTools, AWriterReplacesTheFileAtOnce) {
  world.write("a.txt", "old content");
  std::ifstream before(world.root() + "/a.txt");
  EXPECT_TRUE(write("a.txt", "new").success);
  std::string seen{std::istreambuf_iterator<char>(before), {}};
  EXPECT_EQ(seen, "old content") << "an open file has the old content";
  EXPECT_EQ(world.read("a.txt"), "new");
}

TEST_F(FileTools, EditAFile) {
  world.write("a.txt", "one two\none three\n");
  EXPECT_TRUE(contains(edit("four", "x").content, "does not have old_text"));
  EXPECT_TRUE(contains(edit("one", "x").content, "2 times"));
  EXPECT_EQ(world.read("a.txt"), "one two\none three\n");
  EXPECT_EQ(edit("one two", "1 2").content, "Replaced 1 text in a.txt.");
  EXPECT_EQ(world.read("a.txt"), "1 2\none three\n");
  EXPECT_TRUE(edit("\n", "\n\n", true).success);
  EXPECT_EQ(world.read("a.txt"), "1 2\n\none three\n\n");
  EXPECT_TRUE(edit("1 2\n\n", "").success);
  EXPECT_EQ(world.read("a.txt"), "one three\n\n");
  EXPECT_FALSE(edit("", "x").success);
  world.write("a.txt", std::string(kMaxEditedBytes + 1, 'x'));
  EXPECT_FALSE(edit("y", "x").success);
  world.write("a.txt", std::string(100'000, 'x'));
  EXPECT_FALSE(edit("x", std::string(1'000, 'y'), true).success) << "it would have 100 MB";
}

TEST_F(FileTools, ListADirectory) {
  world.write("b.txt", "four");
  world.write("a/c.txt", "");
  world.write("a/d/e.txt", "x");
  fs::create_symlink("b.txt", world.root() + "/link");
  EXPECT_EQ(world.call("list_files", "{}").content, "a/\nb.txt (4 bytes)\nlink (a symbolic link)\n");
  EXPECT_EQ(world.call("list_files", R"({"path":"a"})").content, "c.txt (0 bytes)\nd/\n");
  EXPECT_EQ(world.call("list_files", R"({"path":"","depth":9})").content,
            "a/\na/c.txt (0 bytes)\na/d/\na/d/e.txt (1 bytes)\nb.txt (4 bytes)\nlink (a symbolic link)\n");
  EXPECT_FALSE(world.call("list_files", R"({"path":"b.txt"})").success);
  EXPECT_FALSE(world.call("list_files", R"({"path":"absent"})").success);
  fs::create_directory(world.root() + "/empty");
  EXPECT_EQ(world.call("list_files", R"({"path":"empty"})").content, "[The directory is empty.]");
}

TEST_F(FileTools, ListManyFiles) {
  for (std::size_t i = 0; i < kMaxListedFiles + 7; ++i) world.write("many/" + std::to_string(10'000 + i), "");
  std::string listed = world.call("list_files", R"({"path":"many"})").content;
  EXPECT_LE(listed.size(), kMaxToolResultBytes);
  EXPECT_TRUE(listed.ends_with("[7 more entries are not shown. List a smaller directory.]\n"))
      << listed.substr(listed.size() - 100);
}

TEST_F(FileTools, DescribeThemselves) {
  ASSERT_TRUE(world.open());
  EXPECT_EQ(world.tools->describe("read_file", R"({"path":"a\n\u001b[2J.txt"})"), "Reads a [2J.txt");
  EXPECT_EQ(world.tools->describe("list_files", "{}"), "Lists .");
  EXPECT_EQ(world.tools->describe("write_file", R"({"path":"a","content":"four"})"), "Writes a (4 bytes)");
  EXPECT_EQ(world.tools->describe("edit_file", R"({"path":"a"})"), "Edits a");
  EXPECT_EQ(world.tools->describe("edit_file", "nonsense"), "Calls edit_file");
  EXPECT_EQ(world.tools->describe("other", "{}"), "Calls other");
  EXPECT_EQ(world.tools->rule_of("write_file", R"({"path":"a"})"), "write_file");
  EXPECT_EQ(world.tools->rule_of("other", ""), "other");
  EXPECT_FALSE(world.tools->rule_of("", "").empty());
}

TEST(FileRoot, WithoutOpenat2FollowsNoLinks) {
  ToolWorld world;
  world.write("a/b.txt", "inside");
  fs::create_symlink("a", world.root() + "/link");
  fs::create_symlink("/", world.root() + "/all");
  fs::create_symlink("../x", world.root() + "/out");
  auto root = FileRoot::open({world.root(), {}, true});
  ASSERT_TRUE(root);
  EXPECT_TRUE(root->read("a/b.txt"));
  EXPECT_TRUE(root->list("."));
  EXPECT_TRUE(root->write("new/c.txt", "made"));
  EXPECT_EQ(world.read("new/c.txt"), "made");
  for (const char* path : {"link/b.txt", "all/etc/passwd", "out", "all", "../x", "/etc/passwd"}) {
    EXPECT_FALSE(root->read(path)) << path;
    EXPECT_FALSE(root->write(path, "x")) << path;
  }
}

TEST(FileRoot, MustBeADirectoryThatIsNotHidden) {
  ToolWorld world;
  world.write("file", "");
  for (const std::string& path : {world.root() + "/absent", world.root() + "/file", std::string("absent")}) {
    auto opened = FileRoot::open({path, {}});
    ASSERT_FALSE(opened) << path;
    EXPECT_EQ(opened.error().reason, "bad_config");
    EXPECT_TRUE(opened.error().message.starts_with("chat.tools_root: ")) << opened.error().message;
  }
  EXPECT_FALSE(FileRoot::open({world.root(), {world.root()}}));
  EXPECT_FALSE(FileRoot::open({world.root(), {world.outside()}}));
  EXPECT_TRUE(FileRoot::open({world.root(), {world.root() + "/data", world.outside() + "/fil"}}));
}

}  // namespace
}  // namespace shepherd
