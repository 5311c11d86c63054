#include "store/search_sqlite/query.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace shepherd::search {
namespace {

struct Term {
  std::string_view text;
  bool prefix = false;
  bool negative = false;
  bool quoted = false;

  bool is_or() const { return text == "OR" && !prefix && !negative && !quoted; }
};

bool is_space(char c) {
  return static_cast<unsigned char>(c) <= ' ' || c == 0x7f;
}

// Whether the tokenizer can find a word in the text. Non-ASCII punctuation passes; FTS5 then ignores the term.
bool has_word(std::string_view text) {
  return std::ranges::any_of(text, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           static_cast<unsigned char>(c) >= 0x80;
  });
}

// A one-letter prefix matches a large part of all words and would take seconds, so it is treated as a word.
bool is_prefix(std::string_view text) {
  return text.size() >= 2;
}

Term take_phrase(std::string_view& rest) {
  rest.remove_prefix(1);
  std::size_t end = rest.find('"');
  Term term{.text = rest.substr(0, end), .quoted = true};
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  if (rest.starts_with('*')) {
    term.prefix = is_prefix(term.text);
    rest.remove_prefix(1);
  }
  return term;
}

Term take_word(std::string_view& rest) {
  auto end = std::ranges::find_if(rest, [](char c) { return is_space(c) || c == '"'; });
  Term term{.text = rest.substr(0, static_cast<std::size_t>(end - rest.begin()))};
  rest.remove_prefix(term.text.size());
  term.prefix = term.text.ends_with('*') && is_prefix(term.text.substr(0, term.text.size() - 1));
  return term;
}

std::vector<Term> terms_of(std::string_view rest) {
  std::vector<Term> out;
  while (!rest.empty()) {
    if (is_space(rest.front())) {
      rest.remove_prefix(1);
      continue;
    }
    // "--flag" is text, because people search for flags.
    bool negative = rest.size() > 1 && rest[0] == '-' && rest[1] != '-' && !is_space(rest[1]);
    if (negative) rest.remove_prefix(1);
    Term term = rest.front() == '"' ? take_phrase(rest) : take_word(rest);
    term.negative = negative;
    if (has_word(term.text)) out.push_back(term);
  }
  return out;
}

void append_term(std::string& out, const Term& term) {
  out += '"';
  // FTS5 reads its expression as a C string, and control characters are never part of a word.
  for (char c : term.text) out += is_space(c) ? ' ' : c;
  out += term.prefix ? "\"*" : "\"";
}

void append_any_of(std::string& out, const std::vector<Term>& terms) {
  out += '(';
  for (std::size_t i = 0; i < terms.size(); ++i) {
    if (i > 0) out += " OR ";
    append_term(out, terms[i]);
  }
  out += ')';
}

}  // namespace

std::string fts_expression(std::string_view query) {
  std::vector<Term> terms = terms_of(query);
  if (std::ranges::all_of(terms, &Term::negative)) {
    for (Term& term : terms) term.negative = false;
  }

  std::vector<std::vector<Term>> clauses;  // all clauses must match, each by one of its terms
  std::vector<Term> negatives;
  bool after_positive = false;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    bool joins = terms[i].is_or() && after_positive && i + 1 < terms.size() && !terms[i + 1].negative;
    if (joins) {
      clauses.back().push_back(terms[++i]);
    } else if (terms[i].negative) {
      negatives.push_back(terms[i]);
    } else {
      clauses.push_back({terms[i]});
    }
    after_positive = !terms[i].negative;
  }
  if (clauses.empty()) return "";

  std::string singles;  // side by side, so that FTS5 ignores those without a word
  std::string choices;
  for (const auto& clause : clauses) {
    if (clause.size() == 1) {
      if (!singles.empty()) singles += ' ';
      append_term(singles, clause[0]);
    } else {
      if (!choices.empty()) choices += " AND ";
      append_any_of(choices, clause);
    }
  }
  std::string out = "(" + singles;
  if (!singles.empty() && !choices.empty()) out += " AND ";
  out += choices;
  out += ')';
  if (!negatives.empty()) {
    out += " NOT ";
    append_any_of(out, negatives);
  }
  return out;
}

}  // namespace shepherd::search
