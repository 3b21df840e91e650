// SPDX-License-Identifier: Apache-2.0
#include "tests/publish/samples.h"

#include <map>
#include <stdexcept>

namespace gauntlet::sample {

namespace {

std::string_view alphabet(char name) {
  static const std::map<char, std::string_view> kAlphabets{
      {'m', "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"},
      {'l', "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"},
      {'n', "0123456789"},
      {'x', "0123456789abcdef"},
      {'a', "abcdefghijklmnopqrstuvwxyz0123456789"},
      {'A', "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"},
      {'B', "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"},
      {'G', "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L"}};
  return kAlphabets.at(name);
}

}  // namespace

std::string filled(std::string_view text, int share) {
  std::string result;
  std::size_t next = 3;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '{') {
      result += text[at];
      continue;
    }
    const std::size_t end = text.find('}', at);
    if (end > at + 3) {
      const std::string_view letters = alphabet(text[at + 1]);
      const int count = std::stoi(std::string(text.substr(at + 3, end - at - 3))) / share;
      for (int i = 0; i < count; ++i)  // 7 divides no alphabet's size: all of it comes
        result += letters[(next += 7) % letters.size()];
    }
    at = end;
  }
  return result;
}

std::string places_of(std::string_view text) {
  return filled(text.substr(text.find('{'), text.rfind('}') + 1 - text.find('{')));
}

const std::vector<RuleSample>& rule_samples() {
  static const std::vector<RuleSample> kSamples{
      {"1password-secret-key", "A3-{A:6}-{A:11}-{A:5}-{A:5}-{A:5}", ""},
      {"1password-service-account-token", "ops_eyJ{m:260}", ""},
      {"age-secret-key", "AGE-SECRET-KEY-1{G:58}", ""},
      {"alibaba-access-key-id", "LTAI{a:20}", ""},
      {"anthropic-admin-api-key", "sk-ant-admin01-{m:93}AA", ""},
      {"anthropic-api-key", "sk-ant-api03-{m:93}AA", ""},
      {"artifactory-api-key", "AKCp{m:69}", ""},
      {"aws-access-token", "AKIA{B:16}", ""},
      {"aws-amazon-bedrock-api-key-long-lived", "ABSK{m:109}", ""},
      {"clojars-api-token", "CLOJARS_{a:60}", ""},
      {"cloudflare-origin-ca-key", "v1.0-{x:24}-{x:146}", ""},
      {"cohere-api-token", "cohere_key = {m:40}", ""},
      {"databricks-api-token", "dapi{x:32}", ""},
      {"digitalocean-access-token", "doo_v1_{x:64}", ""},
      {"digitalocean-pat", "dop_v1_{x:64}", ""},
      {"digitalocean-refresh-token", "dor_v1_{x:64}", ""},
      {"doppler-api-token", "dp.pt.{a:43}", ""},
      {"dynatrace-api-token", "dt0c01.{a:24}.{a:64}", ""},
      {"flyio-access-token", "fo1_{m:43}", ""},
      {"gcp-api-key", "AIza{m:35}", ""},
      {"github-app-token", "ghs_{m:36}", ""},
      {"github-fine-grained-pat", "github_pat_{m:82}", ""},
      {"github-oauth", "gho_{m:36}", ""},
      {"github-pat", "ghp_{m:36}", ""},
      {"github-refresh-token", "ghr_{m:36}", ""},
      {"gitlab-cicd-job-token", "glcbt-{m:4}_{m:20}", ""},
      {"gitlab-deploy-token", "gldt-{m:20}", ""},
      {"gitlab-pat", "glpat-{m:20}", ""},
      {"gitlab-pat-routable", "glpat-{m:30}.{a:9}", ""},
      {"gitlab-runner-authentication-token", "glrt-{m:20}", ""},
      {"grafana-cloud-api-token", "glc_{m:40}", ""},
      {"grafana-service-account-token", "glsa_{m:32}_{x:8}", ""},
      {"hashicorp-tf-api-token", "{a:14}.atlasv1.{a:64}", ""},
      {"heroku-api-key-v2", "HRKU-AA{m:58}", ""},
      {"huggingface-access-token", "hf_{l:34}", ""},
      {"huggingface-organization-api-token", "api_org_{l:34}", ""},
      {"jwt", "ey{m:20}.ey{m:20}.{m:20}", ""},
      {"linear-api-key", "lin_api_{a:40}", ""},
      {"mailchimp-api-key", "mailchimp = {x:32}-us12", ""},
      {"microsoft-teams-webhook",
       "https://firm.webhook.office.com/webhookb2/{a:8}-{a:4}-{a:4}-{a:4}-{a:12}@{a:8}-{a:4}-{a:4}-"
       "{a:4}-{a:12}/IncomingWebhook/{a:32}/{a:8}-{a:4}-{a:4}-{a:4}-{a:12}",
       ""},
      {"notion-api-token", "ntn_{n:11}{m:35}", ""},
      {"npm-access-token", "npm_{a:36}", ""},
      {"openai-api-key", "sk-{m:20}T3Blbk{}FJ{m:20}", ""},
      {"perplexity-api-key", "pplx-{m:48}", ""},
      {"planetscale-api-token", "pscale_tkn_{m:40}", ""},
      {"postman-api-token", "PMAK-{x:24}-{x:34}", ""},
      {"prefect-api-token", "pnu_{m:36}", ""},
      {"private-key",
       "-----BEGIN RSA {}PRIVATE KEY-----\n{m:64}\n{m:40}\n-----END RSA {}PRIVATE KEY-----",
       "-----BEGIN RSA {}PUBLIC KEY-----\n{m:64}\n-----END RSA {}PUBLIC KEY-----"},
      {"pulumi-api-token", "pul-{x:40}", ""},
      {"pypi-upload-token", "pypi-AgEI{}cHlwaS5vcmc{m:60}", ""},
      {"rubygems-api-token", "rubygems_{x:48}", ""},
      {"sendgrid-api-token", "SG.{a:66}", ""},
      {"sentry-user-token", "sntryu_{x:64}", ""},
      {"slack-app-token", "xapp-{n:1}-{A:11}-{n:13}-{a:64}", "xapp-{n:1}-{A:11}-{n:13}"},
      {"slack-bot-token", "xoxb-{n:12}-{n:12}-{m:24}", ""},
      {"slack-config-access-token", "xoxe.xoxb-{n:1}-{A:164}", ""},
      {"slack-user-token", "xoxp-{n:12}-{n:12}-{n:12}-{a:32}", ""},
      {"slack-webhook-url", "https://hooks.slack.com/services/{m:44}", ""},
      {"stripe-access-token", "sk_live_{m:16}", ""},
      {"telegram-bot-api-token", "telegram_bot: {n:10}:A{a:34}", ""},
      {"twilio-api-key", "SK{x:32}", ""},
      {"vault-batch-token", "hvb.{m:140}", ""},
      {"yandex-access-token", "yandex = t1.{m:20}.{m:86}", ""},

      {"private-key-cut", "-----BEGIN {}PRIVATE KEY-----\n{m:64}\n{m:64}\nand the log ends",
       "-----BEGIN {}PRIVATE KEY-----\nand here nothing of it follows"},
      {"sk-key", "sk-or-v1-{x:64}", "sk-learn-{x:12}"},
      {"authorization-header", "Authorization: Bearer {m:24}", "Authorization: Bearer $TOKEN"},
      {"assigned-secret", "export SERVICE_API_KEY={m:24}",
       "MAX_TOKEN=4096 EOS_TOKEN=no_such_token"},
      {"url-password", "https://alice:{m:12}@server/x", "https://server:8080/x@y"},
      {"home-folder", "g++ -I/home/{a:7}/inc /x", "see https://example.com/home/page"},
      {"home-folder", "PATH=/usr/bin:/home/{a:7}/bin", "cd /home/user/work"},
      {"home-folder", "[\"a\\n/Users/{a:7}/b\"]", "GET /api/users/123"},
      {"home-folder-windows", "C:\\Users\\{a:7}\\x", "C:\\Users\\Public\\x"},
      {"home-folder-dashed", "projects/-home-{a:7}-work", "css-home-page-x"},
      {"temporary-folder", "/tmp/pytest-of-{a:7}/x", "/tmp/pytest-of-root/x"},
      {"shell-prompt", "q{a:6}@{a:4}:~/work$ ls", "git@server:team/x.git"},
      {"remote-login", "ssh -p 22 q{a:6}@box7 ls", "ssh --help"},
      {"email", "mail q{a:6}.x@firm.org.", "y = query@key.transpose(0)"},
      {"user-variable", "USER=q{a:6}", "USER=root"},
      {"host-variable", "HOSTNAME=q{a:6}", "HOST=localhost"},
      {"file-owner", "-rw-r--r-- 1 q{a:6} staff 12 May 1 x", "-rw-r--r-- 1 root root 12 May 1 x"},
      {"system-name", "Linux q{a:6} 6.1.0-18-amd64 #1 SMP", "Linux version 6.1.0-18"},
      {"internal-host", "http://q{a:6}.corp/x", "x = config.local"},
      {"cloud-host", "node ip-10-0-{n:2}-7 is up", "skip-10-0-1-7"},
  };
  return kSamples;
}

}  // namespace gauntlet::sample
