// Private keys as people and tools print them. What a shell would run between their lines is in redact_shell_test.cpp.
#include "redact/pem_block.h"

#include <gtest/gtest.h>

#include <string>

#include "redact/redact.h"

namespace shepherd {
namespace {

const std::string kBegin = std::string("-----BEGIN RSA ") + "PRIVATE KEY-----";
const std::string kEnd = std::string("-----END RSA ") + "PRIVATE KEY-----";
const std::string kLine = "MIIEowIBAAKCAQEAx7Q9mB3dE5fG7hJ9kL1mN2pQ";

class PemBlock : public ::testing::Test {
 protected:
  std::string redacted(const std::string& text) const { return redactor_.redact(text); }
  // The text with its only mark as "#", and how much that stands for.
  std::string shown(const std::string& text) const {
    std::string out = redacted(text);
    std::size_t at = out.find("[redacted:private_key:");
    if (at == std::string::npos) return out == text ? "unchanged" : out;
    std::size_t end = out.find(']', at);
    return out.substr(0, at) + "#" + out.substr(at + 22, end - at - 22) + out.substr(end + 1);
  }
  std::string mark(std::size_t size) const { return "#" + std::to_string(size); }

  Redactor redactor_ = Redactor::create({}).value();
};

TEST_F(PemBlock, AKeyIsOneMark) {
  for (const char* between : {"\n", "\r\n", "\n\n", " ", "\\n", "\\r\\n", "\\\\n", "\n\t"}) {
    std::string text = kBegin + between + kLine + between + kLine + between + kEnd;
    EXPECT_EQ(shown("a " + text + " b"), "a " + mark(text.size()) + " b") << between;
  }
}

TEST_F(PemBlock, OtherEscapesAreNoLineEnds) {
  for (const char* between : {"\\~", "\\x", "\\b", ";"}) {
    EXPECT_EQ(shown(kBegin + between + kLine + " x"), "unchanged") << between;
  }
}

TEST_F(PemBlock, SlashesMayBeEscaped) {
  for (const char* slash : {"/", "\\/", "\\\\/"}) {
    std::string line = "MIIEowIBAAKC" + std::string(slash) + "QEAx7Q9mB3dE5fG7hJ9";
    std::string text = kBegin + "\\n" + line + "\\n" + line + "\\n" + kEnd;
    EXPECT_EQ(shown(text), mark(text.size())) << slash;
  }
}

TEST_F(PemBlock, TheArmourNamesAPrivateKey) {
  auto armoured = [&](const std::string& label) {
    return shown("-----BEGIN " + label + "-----\n" + kLine + "\n-----END " + label + "-----") != "unchanged";
  };
  const std::string key = std::string("PRIVATE ") + "KEY";
  EXPECT_TRUE(armoured(key));
  EXPECT_TRUE(armoured("EC2 " + key));
  EXPECT_TRUE(armoured("PGP " + key + " BLOCK"));
  EXPECT_FALSE(armoured("rsa " + key));
  EXPECT_FALSE(armoured("RSA_" + key));
  EXPECT_FALSE(armoured("PUBLIC KEY"));
  auto begun = [&](std::size_t size) {
    return shown("-----BEGIN " + std::string(size, 'A') + " " + key + "-----\n" + kLine) != "unchanged";
  };
  EXPECT_TRUE(begun(41)) << "as far as it is looked at";
  EXPECT_FALSE(begun(42));
}

TEST_F(PemBlock, WhatIsCutOffIsAKeyAllTheSame) {
  EXPECT_EQ(shown(kBegin), mark(kBegin.size()));
  EXPECT_EQ(shown(kBegin + "\n"), mark(kBegin.size()) + "\n");
  EXPECT_EQ(shown(kBegin + "\nMII"), mark(kBegin.size()) + "\nMII") << "its first line has only begun";
  EXPECT_EQ(shown(kBegin + "\nProc-Type"), mark(kBegin.size()) + "\nProc-Type");
  EXPECT_EQ(shown(kBegin + "\nProc-Type:"), mark(kBegin.size()) + "\nProc-Type:");
  EXPECT_EQ(shown(kBegin + "\n" + kLine), mark(kBegin.size() + 1 + kLine.size()));
  EXPECT_EQ(shown(kBegin.substr(0, kBegin.size() - 5) + "\n" + kLine), mark(kBegin.size() - 4 + kLine.size()));
  EXPECT_EQ(shown(kLine + "\n" + kEnd), mark(kLine.size() + 1 + kEnd.size()));
  EXPECT_EQ(shown(kBegin + " is how it begins"), "unchanged");
  EXPECT_EQ(shown(kEnd), "unchanged");
  EXPECT_EQ(shown("x " + kEnd), "unchanged");
}

TEST_F(PemBlock, LinesAreKeyMaterialOrNot) {
  auto is_material = [&](const std::string& line) {
    return shown(kBegin + "\n" + line + "\n") == mark(kBegin.size() + 1 + line.size()) + "\n";
  };
  EXPECT_TRUE(is_material("abcdefghijkL"));
  EXPECT_FALSE(is_material("abcdefghijk1")) << "one case";
  EXPECT_FALSE(is_material("abcdefghijL")) << "too short, and no end behind it";
  EXPECT_TRUE(is_material("abcdefghij1="));
  EXPECT_FALSE(is_material("abcdefghijk="));
  EXPECT_TRUE(is_material("abcd/efghijL"));
  EXPECT_FALSE(is_material("abcd/ef/hijL")) << "a path";
  EXPECT_TRUE(is_material("abcd/efghi/klmnL")) << "one in eight";
  auto ends = [&](const std::string& line) {
    std::string text = kBegin + "\n" + kLine + "\n" + line + "\n" + kEnd;
    return shown(text) == mark(text.size());
  };
  for (const char* last : {"a1", "aB", "a=", "1", "=abc", "a/"}) EXPECT_TRUE(ends(last)) << last;
  for (const char* last : {"ab", "AB", "a b", ";"}) EXPECT_FALSE(ends(last)) << last;
}

TEST_F(PemBlock, HeadersComeBeforeTheKey) {
  auto with = [&](const std::string& headers) {
    return redacted(kBegin + "\n" + headers + "\n" + kLine + "\n" + kEnd);
  };
  auto is_hidden = [&](const std::string& headers) { return with(headers).find("MIIEow") == std::string::npos; };
  EXPECT_TRUE(is_hidden("Proc-Type: 4,ENCRYPTED\n"));
  EXPECT_NE(with("Proc-Type: 4,ENCRYPTED\n").find("Proc-Type: 4,ENCRYPTED"), std::string::npos) << "headers stay";
  auto is_header = [&](const std::string& header) {
    return redacted(kBegin + "\n" + header + "\n\n" + kLine).find("MIIEow") == std::string::npos;
  };
  EXPECT_TRUE(is_header(std::string(32, 'N') + ": value"));
  EXPECT_FALSE(is_header(std::string(33, 'N') + ": value"));
  EXPECT_FALSE(is_header("Name:value"));
  EXPECT_FALSE(is_header(": value"));
  EXPECT_TRUE(is_header("Name: " + std::string(157, 'v'))) << "with its colon, as far as it is looked at";
  EXPECT_FALSE(is_header("Name: " + std::string(159, 'v')));
  for (const std::string header : {"Comment: a~b, (c) 1+1=2; x", "X: y"}) {
    std::string text = kBegin + "\n" + header + "\n\n" + kLine;
    EXPECT_EQ(redacted(text).find("MIIEow"), std::string::npos) << header;
    EXPECT_NE(redacted(text).find(header), std::string::npos) << header;
  }
  std::string many;
  for (int i = 0; i < 8; ++i) many += "Name: value\n";
  EXPECT_TRUE(is_hidden(many));
  std::string name(32, 'N');
  EXPECT_TRUE(is_hidden(name + ": value"));
  EXPECT_EQ(with(many), redacted(kBegin + "\n" + many + "\n" + kLine + "\n" + kEnd));
}

TEST_F(PemBlock, NumbersAndSignsBeforeALineStay) {
  for (const char* before : {"1:", "12\t", "1234567:", "3\xE2\x86\x92", "4\\u2192", "5\\t", "6: "}) {
    std::string text = kBegin + "\n" + before + kLine + "\n" + before + kEnd;
    EXPECT_EQ(shown(text), mark(text.size() - (std::string_view(before) == "3\xE2\x86\x92" ? 4 : 0))) << before;
  }
  for (const char* before : {"> ", ">", "| ", "# ", "* ", "- "}) {
    std::string text = std::string(before) + kBegin + "\n" + before + kLine + "\n" + before + kEnd;
    std::string out = redacted(text);
    EXPECT_EQ(out.find("MIIEow"), std::string::npos) << out;
    std::size_t found = 0;
    for (std::size_t at = out.find(before); at != std::string::npos; at = out.find(before, at + 1)) ++found;
    EXPECT_EQ(found, 3U) << out;
  }
  EXPECT_EQ(redacted(kBegin + "\n12345678:" + kLine + "\n").find("redacted"), std::string::npos);
}

TEST_F(PemBlock, TheEndOfAKeyLooksBackToOtherDashes) {
  std::string end = kLine + "\n" + kLine + "\n" + kEnd;
  EXPECT_EQ(shown("some words\n" + end), "some words\n" + mark(end.size()));
  EXPECT_EQ(shown("-----\n" + end), "-----\n" + mark(end.size()));
  EXPECT_EQ(shown("Key " + kLine + "\nwords\n" + kLine + "\n" + kEnd),
            "Key " + kLine + "\nwords\n" + mark(kLine.size() + 1 + kEnd.size()));
}

}  // namespace
}  // namespace shepherd
