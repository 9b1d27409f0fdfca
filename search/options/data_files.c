/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/options/data_files.h"
#include "search/options/data_hash.h"

bool data_files_name(Report *report, Arena *arena, Error *error) {
    const Request *request = report->request;
    DataFile *data = report->data;
    const char *profile = profile_path(request->asked.profile, arena, error);
    const char *optimizer = profile ? optimizer_path(request->asked.optimizer, "--optimizer", arena, error) : NULL;
    return optimizer &&
           (!request->question.model.path || /* a model that the caller gave as text has no file */
            data_file(request->question.model.path, "models/zoo", arena, &data[DATA_MODEL], error)) &&
           data_file(request->question.chip.path, "mesh/catalog", arena, &data[DATA_CHIP], error) &&
           data_file(profile, "cost/profiles", arena, &data[DATA_PROFILE], error) &&
           data_file(optimizer, "cost/optimizers", arena, &data[DATA_OPTIMIZER], error);
}

bool data_files_name_all(Report *report, Arena *arena, Error *error) {
    return file_data_sha256(report->data_sha256, arena, error) && data_files_name(report, arena, error);
}
