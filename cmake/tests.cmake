# Makes tests of the files x_test.cc and x_fuzz.cc.

# The needs of the tests of a tier, which are those of a label.
foreach(tier IN ITEMS lint unit threads netns fabric fabric_quick)
  add_custom_target(tier_${tier})
endforeach()

# Registers those of the current folder.
function(ibpod_tests_beside library)
  cmake_parse_arguments(ARG "" "" "LIBS;SLOW" ${ARGN})
  file(GLOB tests CONFIGURE_DEPENDS *_test.cc)
  if(tests AND IBPOD_BUILDS STREQUAL "tests")
    ibpod_test(${library}_test SOURCES ${tests} LIBS ${library} ${ARG_LIBS} SLOW ${ARG_SLOW})
  endif()
  file(GLOB targets CONFIGURE_DEPENDS *_fuzz.cc)
  foreach(source ${targets})
    get_filename_component(target ${source} NAME_WE)
    if(NOT IBPOD_BUILDS STREQUAL "programs")
      ibpod_fuzz_target(${target} ${source} ${library})
    endif()
  endforeach()
endfunction()

# The current folder's tests run under ThreadSanitizer, too.
function(ibpod_has_threads library)
  if(IBPOD_BUILDS STREQUAL "tests")
    get_property(names DIRECTORY PROPERTY TESTS)
    list(FILTER names EXCLUDE REGEX "^corpus\\.")
    set_property(TEST ${names} APPEND PROPERTY LABELS threads)
    add_dependencies(tier_threads ${library}_test)
  endif()
endfunction()

# A program of doctest cases, run in the repository's root. Its tests are named after its folder.
function(ibpod_test target)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBS;SLOW" ${ARGN})
  add_executable(${target} ${ARG_SOURCES})
  target_link_libraries(${target} PRIVATE ${ARG_LIBS} ibpod_support)
  ibpod_compile_as(tests ${target})
  add_dependencies(tier_unit ${target})
  file(RELATIVE_PATH folder ${CMAKE_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  string(REPLACE "/" "." name ${folder})
  list(TRANSFORM ARG_SLOW PREPEND "*/")
  list(JOIN ARG_SLOW "," slow)
  ibpod_add_unit_test(${name} ${target} "--source-file-exclude=${slow},none")
  foreach(source ${ARG_SLOW})
    string(REPLACE "*/" "" file ${source})
    if(NOT EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${file})
      message(FATAL_ERROR "SLOW ${file}: there is no such test")
    endif()
    get_filename_component(stem ${source} NAME_WE)
    ibpod_add_unit_test(${name}.${stem} ${target} --source-file=${source})
    set_tests_properties(${name}.${stem} PROPERTIES COST 100) # it begins before the others
  endforeach()
endfunction()

# A fork copies what AddressSanitizer keeps of freed memory: the fault loops, which start a thousand programs, take half of the
# time with less of it.
function(ibpod_add_unit_test name)
  add_test(NAME ${name} COMMAND ${ARGN} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  set(asan quarantine_size_mb=16:max_uar_stack_size_log=16)
  set(tsan "ignore_noninstrumented_modules=1 history_size=7 suppressions=${CMAKE_SOURCE_DIR}/tests/tsan.supp")
  set_tests_properties(${name} PROPERTIES LABELS unit TIMEOUT 400 SKIP_RETURN_CODE 77
    ENVIRONMENT "ASAN_OPTIONS=${asan};TSAN_OPTIONS=${tsan}")
endfunction()

# The build preset fuzz builds these and what they need.
add_custom_target(fuzz_targets)
function(ibpod_fuzz_target target source library)
  string(REGEX REPLACE "_fuzz$" "" corpus ${target})
  add_executable(${target} ${source})
  target_link_libraries(${target} PRIVATE ${library} ibpod_flags)
  ibpod_compile_as(code ${target})
  add_dependencies(fuzz_targets ${target})
  if(IBPOD_FUZZ)
    target_link_options(${target} PRIVATE -fsanitize=fuzzer)
  else()
    target_link_libraries(${target} PRIVATE ibpod_replay_corpus)
    add_dependencies(tier_unit ${target})
    add_test(NAME corpus.${corpus} COMMAND ${target} tests/data/fuzz/${corpus}
             WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
    set_tests_properties(corpus.${corpus} PROPERTIES LABELS unit TIMEOUT 120)
  endif()
endfunction()
