<?php
// What moodle.py asks of a Moodle, through Moodle's own classes; steps as JSON on stdin.
// php moodle.php /path/to/moodle/config.php

define('CLI_SCRIPT', true);
$steps = json_decode(stream_get_contents(STDIN), true, 512, JSON_THROW_ON_ERROR);
require($argv[1]);
require_once($CFG->libdir . '/filelib.php');
require_once($CFG->libdir . '/csvlib.class.php');
require_once($CFG->libdir . '/gradelib.php');
require_once($CFG->libdir . '/phpunit/classes/util.php');
require_once($CFG->dirroot . '/mod/assign/locallib.php');
require_once($CFG->dirroot . '/mod/assign/feedback/file/importziplib.php');
require_once($CFG->dirroot . '/mod/assign/feedback/offline/importgradeslib.php');

function person($login) {
    return core_user::get_user_by_username($login, '*', null, MUST_EXIST);
}

function act_as($login) {
    \core\session\manager::set_user($login == 'admin' ? get_admin() : person($login));
    $_POST['sesskey'] = sesskey();
}

function assignment($module) {
    global $PAGE;
    [$course, $cm] = get_course_and_cm_from_cmid($module, 'assign');
    $PAGE->set_url('/mod/assign/view.php', ['id' => $module]);
    return new assign(context_module::instance($cm->id), $cm, $course);
}

// files, base64 by path, in a draft area as a form has them
function drafted($files) {
    global $USER;
    $item = file_get_unused_draft_itemid();
    foreach ($files as $path => $data) {
        $folder = trim(dirname($path), './');
        get_file_storage()->create_file_from_string([
            'contextid' => context_user::instance($USER->id)->id, 'component' => 'user',
            'filearea' => 'draft', 'itemid' => $item, 'filename' => basename($path),
            'filepath' => $folder === '' ? '/' : "/$folder/",
        ], base64_decode($data));
    }
    return $item;
}

function grade_of($one, $login, $change) {
    $item = ['itemtype' => 'mod', 'itemmodule' => 'assign', 'iteminstance' => $one->get_instance()->id];
    $item = grade_item::fetch($item);
    $grade = new grade_grade(['itemid' => $item->id, 'userid' => person($login)->id]);
    $grade->$change = time();
    return $grade->id ? $grade->update() : (bool) $grade->insert();
}

$made = phpunit_util::get_data_generator();
$does = [
    'course' => fn($s) => $made->create_course($s['course'])->id,
    'teacher' => function ($s) use ($made) {
        $teacher = core_user::get_user_by_username('teacher')
            ?: $made->create_user(['username' => 'teacher', 'password' => $s['teacher']]);
        return $made->enrol_user($teacher->id, $s['in'], 'editingteacher');
    },
    'person' => function ($s) use ($made) {
        $user = $made->create_user($s['person']);
        return $made->enrol_user($user->id, $s['in']);
    },
    'group' => function ($s) use ($made) {
        $group = $made->create_group(['courseid' => $s['in'], 'name' => $s['group']]);
        foreach ($s['members'] as $login) {
            $made->create_group_member(['groupid' => $group->id, 'userid' => person($login)->id]);
        }
        return $group->id;
    },
    'assignment' => fn($s) => $made->create_module('assign', $s['assignment'])->cmid,
    'submit' => function ($s) {
        act_as($s['who']);
        $notices = [];
        $data = ['userid' => person($s['who'])->id, 'files_filemanager' => drafted($s['files'])];
        $fine = assignment($s['submit'])->save_submission((object) $data, $notices);
        return $fine ?: throw new Exception(json_encode($notices));
    },
    'aged' => function ($s) {
        global $DB;
        $one = assignment($s['aged']);
        $work = $one->get_user_submission(person($s['who'])->id, false);
        $time = time() - 3600 * $s['hours'];
        $files = get_file_storage()->get_area_files($one->get_context()->id,
            'assignsubmission_file', 'submission_files', $work->id, 'id', false);
        foreach ($files as $file) {
            $DB->set_field('files', 'timemodified', $time, ['id' => $file->get_id()]);
        }
        return $DB->set_field('assign_submission', 'timemodified', $time, ['id' => $work->id]);
    },
    'reopen' => function ($s) {
        act_as('teacher');
        $method = new ReflectionMethod('assign', 'process_add_attempt');
        return $method->invoke(assignment($s['reopen']), person($s['who'])->id);
    },
    'comment' => function ($s) {
        act_as('teacher');
        $text = ['text' => $s['text'], 'format' => FORMAT_HTML];
        $data = ['grade' => '', 'attemptnumber' => -1, 'assignfeedbackcomments_editor' => $text];
        return assignment($s['comment'])->save_grade(person($s['who'])->id, (object) $data);
    },
    'lock' => fn($s) => grade_of(assignment($s['lock']), $s['who'], $s['how']),
    'reveal' => fn($s) => assignment($s['reveal'])->reveal_identities(),
    'zone' => function ($s) {
        global $DB;
        return $DB->set_field('user', 'timezone', $s['zone'], ['username' => 'teacher']);
    },
    // pages and grades go back, as at the teacher's upload
    'pages' => function ($s) {
        act_as('teacher');
        $one = assignment($s['pages']);
        $files = get_file_storage()->get_area_files(context_user::instance(person('teacher')->id)->id,
            'user', 'draft', drafted(['pages.zip' => $s['data']]), 'id', false);
        $importer = new assignfeedback_file_zip_importer();
        $importer->extract_files_from_zip(reset($files), $one->get_context()->id);
        $importer->import_zip_files($one, $one->get_feedback_plugin_by_type('file'));
        return $importer->delete_import_files($one->get_context()->id);
    },
    'grades' => function ($s) {
        act_as('teacher');
        $plugin = assignment($s['grades'])->get_feedback_plugin_by_type('offline');
        $id = csv_import_reader::get_new_iid('assignfeedback_offline');
        $plugin->process_import_grades(drafted(['grades.csv' => $s['data']]), $id, false);
        return true;
    },
    'held' => function ($s) {
        $one = assignment($s['held']);
        $people = [];
        foreach ($one->list_participants(0, false) as $user) {
            $grade = $one->get_user_grade($user->id, false);
            $people[$user->username] = ['number' => $one->get_uniqueid_for_user($user->id), 'pages' => [],
                'points' => $grade && $grade->grade >= 0 ? (float) $grade->grade : null];
            $files = get_file_storage()->get_area_files($one->get_context()->id, 'assignfeedback_file',
                'feedback_files', $grade ? $grade->id : 0, 'id', false);
            foreach ($files as $file) {
                $people[$user->username]['pages'][] = md5($file->get_content());
            }
            $plugin = $one->get_feedback_plugin_by_type('comments');
            $people[$user->username]['comment'] = $grade ? $plugin->get_editor_text('comments', $grade->id) : '';
        }
        return $people;
    },
    'release' => fn($s) => $CFG->release,
];
set_config('timezone', 'Europe/Berlin');
$found = [];
foreach ($steps as $step) {
    act_as('admin');
    ob_start();
    $found[] = $does[array_key_first($step)]($step);
    ob_end_clean();
}
echo "\nJSON ", json_encode($found, JSON_THROW_ON_ERROR), "\n";
