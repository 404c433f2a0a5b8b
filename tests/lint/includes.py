"""A source includes what declares the std:: names that it uses, itself or by a header of ours.

Most builds precompile the headers of the C++ library, so a compiler does not notice. It knows only the names in NAMES.
"""

import re

import source

NAMES = {
    "algorithm": "all_of any_of clamp copy count_if equal find find_if is_sorted lower_bound max max_element min min_element "
                 "none_of ranges remove_if replace reverse sort stable_sort transform unique upper_bound",
    "array": "array", "atomic": "atomic", "charconv": "from_chars to_chars", "chrono": "chrono", "compare": "strong_ordering",
    "condition_variable": "condition_variable", "deque": "deque", "filesystem": "filesystem", "fstream": "ifstream ofstream",
    "functional": "function", "future": "async future promise", "limits": "numeric_limits", "map": "map multimap",
    "memory": "make_shared make_unique shared_ptr unique_ptr weak_ptr", "mutex": "lock_guard mutex scoped_lock unique_lock",
    "numeric": "accumulate iota", "optional": "nullopt optional", "random": "mt19937 mt19937_64 uniform_int_distribution",
    "set": "multiset set", "span": "as_bytes span", "sstream": "istringstream ostringstream stringstream",
    "string": "getline stoi stoul stoull string to_string", "string_view": "string_view",
    "thread": "jthread this_thread thread", "tuple": "tie tuple", "unordered_map": "unordered_map",
    "unordered_set": "unordered_set", "utility": "as_const exchange forward move pair swap",
    "variant": "get_if holds_alternative monostate variant visit", "vector": "vector",
}
HEADER_OF = {name: header for header, names in NAMES.items() for name in names.split()}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)
USE = re.compile(r"\bstd::(\w+)")


def included(name, seen):
    """The headers of others that a source reads, also by those of ours that are not in `seen` yet."""
    found = set()
    for kind, header in INCLUDE.findall(source.text(name)):
        if kind == "<":
            found.add(header)
        elif header not in seen and (source.ROOT / header).is_file():
            seen.add(header)
            found |= included(header, seen)
    return found


def used(code):
    """The headers whose names the code uses."""
    return {HEADER_OF[name] for name in USE.findall(code) if name in HEADER_OF}


def main():
    findings = [f"{name}: uses what <{header}> declares" for name in source.cpp_files()
                for header in sorted(used(source.code(name)) - included(name, set()))]
    source.finish(findings, "includes")


if __name__ == "__main__":
    main()
