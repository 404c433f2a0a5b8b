"""The rules see what they are there for, and nothing else."""

import unittest

import chart
import documents
import file_names
import function_length
import includes
import layering
import mentions
import notes
import quoted
import source
import try_lines
import version
import words


def tries(statement):
    return list(try_lines.check("x.cc", source.bare("void f() {\n" + statement + "\n}\n")))


class Quoted(unittest.TestCase):
    said = '"state" "unseen" "not found"'

    def test_metrics_and_their_labels_are_those_of_the_programs(self):
        def found(text):
            return list(quoted.check_metrics("x.md", text, {"ibpod_sm_ports", "ibpod_wait_seconds"}, self.said))
        self.assertEqual(found('`ibpod_sm_ports{state="unseen"}`, ibpod_wait_seconds_bucket, `ibpod_sm_certificate_*`'), [])
        self.assertEqual(len(found("ibpod_sm_port and ibpod_sm_ports_total")), 2)
        self.assertEqual(len(found('ibpod_sm_ports{state="not_seen"} ibpod_sm_ports{kind="unseen"}')), 2)
        self.assertEqual(len(found('ibpod_sm_ports{state=~"unseen|not_seen"} ibpod_sm_ports{state!="seen"}')), 2)

    def test_values_of_labels_are_words_of_the_programs(self):
        table = "\n| label | values |\n|---|---|\n| `result` | %s |\n\n`other` text\n"
        self.assertEqual(list(quoted.check_values("x.md", table % "`not found`, as in [`audit`](x), `a.json`", self.said)), [])
        self.assertEqual(len(list(quoted.check_values("x.md", table % "`not_found`", self.said))), 1)

    def test_every_error_has_its_row(self):
        self.assertEqual(quoted.codes("enum {\n  kA = 1,\n  kB = 11,\n};"), {1, 11})
        table = "\n| code | meaning | typical reasons |\n|---|---|---|\n| 1 | a | b |\n| 12 | c | d |\n"
        self.assertEqual(len(list(quoted.check_codes("x.md", table, {1, 11}))), 2)


class Version(unittest.TestCase):
    def test_where_it_is_repeated_it_is_the_same(self):
        text = 'ibpod/agent:%s\n  newTag: "%s"\n**Status: version %s. It\n## [Unreleased]: %s\n'
        self.assertEqual(list(version.check("x.md", text % (("0.1.0",) * 4), "0.1.0")), [])
        self.assertEqual(len(list(version.check("x.md", text % (("0.1.0",) * 4), "0.2.0"))), 4)


class Chart(unittest.TestCase):
    def test_values_are_those_that_stand_there(self):
        text = 'a: 1 # one\n# b: 2\nc:\n  d: {e: f}\n  g:\n    h: ""\ni: []\n'
        self.assertEqual(chart.defaults(text), {"a": "1", "c.d": "{e: f}", "c.g.h": '""', "i": "[]"})

    def test_values_of_templates_by_every_way_to_them(self):
        text = '{{ .Values.a.b }} {{- with .Values.c }}{{ .d }}{{ end }} {{ $.Values.e }} (dict "image" .Values.f.image)'
        self.assertEqual(chart.used(text), {"a.b", "c", "e", "f.image"})
        for path, reached in (("a.b", True), ("c.d", True), ("c.x", False), ("f.image", True), ("g", False)):
            self.assertEqual(bool(chart.reaches(text, path)), reached, path)

    def test_a_value_is_missing_on_one_side(self):
        self.assertEqual(len(list(chart.compare({"a.b", "c"}, "docs", {"a", "d"}, "templates"))), 2)
        self.assertEqual(list(chart.compare({"a.b", "a.c"}, "docs", {"a"}, "templates")), [])


class TryLines(unittest.TestCase):
    def test_whole_statements_and_initialisers(self):
        for statement in (
                "TRY(a());", "if (b) TRY(a());", "else TRY(a());", "for (auto x : y) TRY(a(x));",
                "const std::vector<Name> names = TRY(a(\"TRY(\", ')'));", "Fd fd(TRY(a()));", "return Fd(TRY(a()));",
                "member_.field = TRY(a());", "file_ = Fd(TRY(a()));", "// f(TRY(a()))",
                "TRY(timed(\n[&] { const int x = TRY(a());\n return x; }));"):
            self.assertEqual(tries(statement), [], statement)

    def test_parts_of_an_expression(self):
        for statement in (
                "P p{1, TRY(a())};", "f(1, TRY(a()));", "x = b ? TRY(a()) : c;", "x = TRY(a()) + 1;", "TRY(a()).b();",
                "return f(TRY(a()), 1);", "TRY(f(TRY(a())));", "TRY(a()); TRY(b());"):
            self.assertEqual(len(tries(statement)), 1, statement)


class FunctionLength(unittest.TestCase):
    def test_every_function_is_measured(self):
        content = "namespace a {\nclass B {\n int c() {\n  return 1;\n }\n};\nconstexpr int kD[] = {\n1};\nint d() { return 2; }\n}\n"
        self.assertEqual(list(function_length.functions(content)), [(3, 3), (9, 1)])


class Includes(unittest.TestCase):
    def test_names_need_the_header_that_declares_them(self):
        self.assertEqual(includes.used("std::vector<std::string> x = ibpod::sort(y);"), {"vector", "string"})
        self.assertEqual(includes.used(source.bare("// std::map\nf(\"std::map\");")), set())


class Layering(unittest.TestCase):
    table = [layering.Folder("lib/base", 0, ""), layering.Folder("lib/nl", 2, "`<linux/…>`"),
             layering.Folder("cni/*", 5, ""), layering.Folder("tests/support", 4, "")]

    def judge(self, name, included):
        here, parent = layering.folder_of(self.table, name)
        return layering.judge_own(self.table, name, here, parent, included)

    def test_includes_point_downwards(self):
        self.assertIsNone(self.judge("lib/nl/socket.cc", "lib/base/fd.h"))
        self.assertIsNone(self.judge("lib/nl/socket.cc", "lib/nl/socket.h"))
        self.assertIsNone(self.judge("lib/nl/rtnl_test.cc", "tests/support/recorded.h"))
        self.assertIn("level", self.judge("lib/base/fd.h", "lib/nl/socket.h"))
        self.assertIsNone(self.judge("lib/nl/test_links.h", "tests/support/recorded.h"))
        self.assertIn("level", self.judge("lib/nl/socket.cc", "tests/support/recorded.h"))
        self.assertIn("no such file", self.judge("lib/nl/socket.cc", "socket.h"))

    def test_a_generated_header_stands_for_its_proto(self):
        self.assertIsNone(self.judge("lib/nl/x_test.cc", "tests/support/echo.grpc.pb.h"))
        self.assertIn("no such file", self.judge("lib/nl/x_test.cc", "tests/support/none.pb.h"))

    def test_headers_of_others(self):
        here = self.table[1]
        self.assertIsNone(layering.judge_foreign("lib/nl/rtnl.cc", here, "linux/rtnetlink.h"))
        self.assertIsNone(layering.judge_foreign("lib/nl/rtnl.cc", here, "sys/socket.h"))
        self.assertIsNotNone(layering.judge_foreign("lib/nl/rtnl.cc", here, "nlohmann/json.hpp"))

    def test_what_a_folder_declares_is_in_its_namespace(self):
        def found(name, namespace, body="int f();\n"):
            return list(layering.judge_namespaces(name, name.rsplit("/", 1)[0], f"namespace {namespace} {{\n{body}}}\n"))
        for name, namespace in (("sm/state/state.h", "ibpod::sm::state"), ("device-plugin/pool.h", "ibpod::device_plugin"),
                                ("lib/node/vf.cc", "ibpod::node"), ("lib/base/fd.h", "ibpod"), ("tests/netns/x.cc", "ibpod::any"),
                                ("lib/node/test_vf.h", "ibpod::node::test"), ("cni/ipoib/ipoib.h", "ibpod::ipoib")):
            self.assertEqual(found(name, namespace), [], name)
        self.assertEqual(found("sm/controller/controller.h", "ibpod::sm::registry", "class State;\n"), [])
        for name, namespace in (("sm/state/state.h", "ibpod::sm"), ("lib/node/vf.cc", "ibpod::lib::node"),
                                ("lib/node/vf.cc", "ibpod::node::test"), ("tests/vm/calls.cc", "ibpod")):
            self.assertEqual(len(found(name, namespace)), 1, name)


class FileNames(unittest.TestCase):
    header = "namespace a {\nclass Other;\nclass TaskQueue final : public Queue<int> {\n void f();\n};\n}\n"

    def check(self, name, content):
        return list(file_names.check(name, source.bare(content)))

    def test_a_file_is_called_as_its_only_class(self):
        for name in ("lib/a/task_queue.h", "lib/a/queue.h", "lib/a/task.h"):
            self.assertEqual(self.check(name, self.header), [], name)
        self.assertEqual(len(self.check("lib/a/mailbox.h", self.header)), 1)

    def test_what_else_it_declares_can_have_the_name(self):
        for other in ("Status send(int to);", "struct Mail {", "enum class Kind {", "using Mail = int;", "class Second {",
                      "template <typename T>", "constexpr int kMost = 3;", "std::vector<int> sort(int a);"):
            self.assertEqual(self.check("lib/a/mailbox.h", self.header.replace("class Other;", other)), [], other)


class Words(unittest.TestCase):
    def found(self, content, name="lib/x.cc"):
        return list(words.check(name, content))

    def test_words_are_seen_wherever_they_are(self):
        for content in ("// Nobody has it.", "strangers_total", "class StewardSettings {", "is_nobody()", "MySteward", "the pod and his GUID",
                        "nobody's", "it is to\n// be had here", "TENANCY"):
            self.assertEqual(len(self.found(content)), 1, content)

    def test_other_words_are_not(self):
        for content in ("knowledge, manew, Hebrew", "this, hissing, the, she", "he-man", "it is to have", "Ledgerdemain"):
            self.assertEqual(self.found(content), [], content)

    def test_it_says_what_to_say(self):
        self.assertIn("say controller", self.found("two Stewards")[0])
        self.assertIn("say partition", self.found("Tenancies")[0])
        self.assertIn("lib/x.cc:2", self.found("a\nledger")[0])

    def test_no_comment_begins_with_a_clause_for_a_noun(self):
        def found(content, name="lib/x.cc"):
            return len(list(words.check_openings(name, content)))
        for content in ("// What it has.\n", "int a;  // Whether it is up\n", "  // Of a VF.\n  // And more.\n", "#include <a>\n// Where it is\n"):
            self.assertEqual(found(content), 1, content)
        for content in ("// It says\n// What it has.\n", "// True if it is up.\n", 'f("// What");\n', "// Offered. Whatsoever.\n", "What();\n"):
            self.assertEqual(found(content), 0, content)
        self.assertEqual(found("#!/bin/sh\n# What it has\nx=1 # Whose\n", "tests/x.sh"), 2)
        self.assertEqual(found('"""What it has."""\n', "tests/x.py"), 1)

    def test_what_is_on_the_wire_stays(self):
        self.assertEqual(self.found("`ibpod_sm_strangers_total` is now", "CHANGELOG.md"), [])


class Notes(unittest.TestCase):
    def test_a_heading_is_its_anchor(self):
        self.assertEqual(notes.anchor("RDMA moves re-create `IPoIB`"), "rdma-moves-re-create-ipoib")

    def test_a_place_on_a_machine_is_seen(self):
        self.assertEqual(len(list(notes.check_private("x", "see /ho" + "me/me/x and /homework"))), 1)

    def test_a_name_is_where_it_is_said_to_be(self):
        right = "`take_name` in `lib/node/names.cc`, `return_to_host` and `await_home` in `lib/node/return_to_host.cc`"
        self.assertEqual(list(notes.check_places("x", right)), [])
        self.assertEqual(len(list(notes.check_places("x", "`take_nothing` (`lib/node/names.cc`)"))), 1)

    def test_a_note_says_what_shows_it(self):
        shown = "### A\nx\n\nShown by: `tests/netns/rtnl_test.cc`\n"
        model = "### B\nx\n\nShown by: `tests/support/fake_kernel_test.cc`\n"
        self.assertEqual(list(notes.check_every_note(shown)), [])
        self.assertEqual(len(list(notes.check_every_note(shown + "\n### C\nnothing\n"))), 1)
        self.assertEqual(len(list(notes.check_every_note(model))), 1)
        self.assertEqual(list(notes.check_every_note(model.replace("by:", "by (model):"))), [])

    def test_a_test_is_in_its_file(self):
        self.assertEqual(len(list(notes.check_tests("x", "Shown by: `tests/netns/rtnl_test.cc` (\"no such test\")"))), 1)


class Mentions(unittest.TestCase):
    names = {"lib/node/vf.cc", "lib/node/vf.h", "docs/agent.md", "lib/nl/rtnl_fuzz.cc"}

    def test_a_file_is_named_by_its_path_or_by_the_end_of_it(self):
        def found(content, name="lib/node/child.cc"):
            return list(mentions.check_files(name, content, self.names))
        self.assertEqual(found("// See lib/node/vf.cc, node/vf.h and vf.h; osm_prtn.c and linux/if.h are of others."), [])
        self.assertEqual(len(found("// See lib/node/vfs.cc.")), 1)
        self.assertEqual(len(found("// See node/vfs.h.")), 1)
        self.assertEqual(len(found("// See lib/vf.h.")), 1)
        self.assertEqual(found('#include "lib/node/vfs.h"\n'), [])
        self.assertEqual(len(found("text `vfs.cc` text", "docs/x.md")), 1)
        self.assertEqual(len(found("x = 1  # as in vfs.py", "tests/x.py")), 1)

    def test_a_type_and_its_functions_are_in_the_code(self):
        code = mentions.Code("namespace ibpod::node {\nclass Kernel {\n};\nStatus Kernel::run() {}\nvoid restore();\n}\n")
        self.assertEqual(list(mentions.check_types("x.md", "`Kernel`, `Kernel::run`, `node::restore()`, `ibpod::node`", code)), [])
        self.assertEqual(len(list(mentions.check_types("x.md", "`Colonel` `Kernel::go` `node::undo`", code))), 3)
        self.assertEqual(list(mentions.check_scopes("x.cc", "// Kernel::run(), std::string::npos\nColonel::run();", code)), [])
        self.assertEqual(len(list(mentions.check_scopes("x.cc", "// As Colonel::run().", code))), 1)

    def test_the_table_of_parsers_has_every_fuzz_target(self):
        table = "| parser | author | fuzz target |\n|---|---|---|\n| links (`lib/nl`) | x | `%s` |\n"
        self.assertEqual(list(mentions.check_fuzz_targets("x.md", table % "rtnl", self.names)), [])
        self.assertEqual(len(list(mentions.check_fuzz_targets("x.md", table % "news", self.names))), 2)


class Documents(unittest.TestCase):
    known = documents.programs()

    def judge(self, content):
        return list(documents.check("docs/x.md", content, self.known))

    def test_commands_say_where_they_run(self):
        for info in ("sh vm", "sh cluster", "sh host tests/lanes/clone-demo.sh", "json", "text"):
            self.assertEqual(self.judge(f"```{info}\nls\n```\n"), [], info)
        lane = "```sh host tests/lanes/bench.sh\n./check full bench\n```\n"
        self.assertEqual(self.judge(lane), [])
        self.assertEqual(len(self.judge(lane.replace("bench\n`", "bench\nls\n`"))), 1)
        for info in ("", "sh", "bash", "sh here", "sh host", "sh host no/such/test", "sh host .ci/run", "sh vm twice"):
            self.assertEqual(len(self.judge(f"```{info}\nls\n```\n")), 1, info)
        code = "```cpp lib/base/token_bucket_test.cc\n  TokenBucket bucket(10, 2);\n```\n"
        self.assertEqual(self.judge(code), [])
        self.assertEqual(len(self.judge(code.replace("10", "11"))), 1)
        self.assertEqual(len(self.judge("Do this:\n\n    ls\n    ls\n")), 1)

    def test_links_lead_somewhere(self):
        self.assertEqual(self.judge("[a](agent.md#sweeps), [b](../README.md#install), [c](https://x.y/z)"), [])
        for target in ("none.md", "agent.md" + "#no-such", "#no-such", "README.md"):
            self.assertEqual(len(self.judge(f"[a]({target})")), 1, target)

    def test_what_is_typed_exists(self):
        for line in ("ibpodctl --json partition list | jq .", "x=1 /usr/bin/ibpodctl partition update a --no-index0",
                     "if ibpod-sm --check-config; then ls --nonsense; fi", "ibpodctl --help", "ibpodctl explain a/b # --x",
                     "kubectl apply -k manifests/base"):
            self.assertEqual(self.judge(f"```sh vm\n{line}\n```\n"), [], line)
        for line in ("ibpodctl --jason partition list", "ibpodctl partition \\\n make a", "ibpodctl list-all",
                     "ls && ibpod-agent --nonsense", "kubectl apply -k manifests/none"):
            self.assertEqual(len(self.judge(f"```sh vm\n{line}\n```\n")), 1, line)
        self.assertEqual(len(self.judge("Say `ibpodctl partition make`.")), 1)

    def test_symptoms_are_what_is_said(self):
        row = ("\n| what you see | what to do |\n|---|---|\n| `{}` | x |\n"
               "\n| key | meaning |\n|---|---|\n| `nobody says any of this` | x |\n")
        said = documents.spoken()
        for words, wrong in (("… still belongs to …: its DEL has not been received", 0), ("it still belongs to somebody", 1)):
            self.assertEqual(len(list(documents.check_symptoms("x", row.format(words), said))), wrong, words)


unittest.main()
